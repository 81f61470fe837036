import { DEPRECATED_USES, DeprecatedUses } from '../../shared/contract/deprecated.ts';
import { contractList } from '../../shared/contract/index.ts';
import { operationId } from '../../shared/contract/openapi.ts';
import type { Command, CommandOutput } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

const deprecatedOperations = () =>
  contractList.flatMap(({ name: service, operations }) =>
    Object.entries(operations).flatMap(([name, { deprecated }]) =>
      deprecated === undefined ? [] : [{ operation: operationId(service, name), ...deprecated }],
    ),
  );

const listDeprecated = (): CommandOutput => {
  const found = deprecatedOperations();
  const rows = found.map(({ operation, since, until, use }) => [operation, since, until, use]);
  return {
    json: found,
    text:
      found.length === 0
        ? 'No operation is deprecated.'
        : tableText([['operation', 'since', 'until', 'use'], ...rows]),
  };
};

const listUses = async (operator: Operator, limit: number): Promise<CommandOutput> => {
  const answers = await operator.each(['gateway'], DEPRECATED_USES);
  // All gateways read the same Redis, so the first that can read it suffices.
  const answer = answers
    .map((each) => DeprecatedUses.safeParse(each).data)
    .find((each) => each !== undefined);
  if (answer === undefined) return { json: null, text: 'No gateway has answered within a second.', code: 1 };
  const uses = answer.uses.slice(0, limit);
  const rows = uses.map(({ operation, account_id, last_used_at }) => [operation, account_id, last_used_at]);
  return {
    json: uses,
    text:
      uses.length === 0
        ? 'No account has used a deprecated operation.'
        : tableText([['operation', 'account', 'last used'], ...rows]),
  };
};

export const deprecatedCommands: readonly Command[] = [
  {
    name: 'deprecated',
    args: '',
    summary: 'Lists deprecated operations, or with --used the accounts that have called them, newest first',
    details:
      'The gateways note the last call of each account for 400 days, at most 5,000 in an environment. Calls of the console\nare not noted, and a call may be missing.',
    show: async (operator, _args, { used, limit }) => (used ? listUses(operator, limit) : listDeprecated()),
  },
];
