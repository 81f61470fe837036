import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { ActionChain, OperatorAction } from '../../shared/contract/operator.ts';
import { AccountId } from '../../shared/contract/primitives.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Command } from './command.ts';
import { serviceContracts, serviceNames } from './service-contracts.ts';
import { tableText } from './table.ts';

/** The output of an earlier `audit verify --json`, as far as a later check needs it. */
const Known = z.array(
  z.object({
    service: z.string(),
    head: z.object({ action_id: z.int(), hash: z.string() }).nullable(),
  }),
);

/** The ends of the chains as a file has them, by service. */
const knownHeads = (file: string | null): Map<string, ActionChain['head']> => {
  if (file === null) return new Map();
  try {
    const known = Known.parse(JSON.parse(readFileSync(file, 'utf8')));
    return new Map(known.map(({ service, head }) => [service, head]));
  } catch (error) {
    throw new Refusal(
      `--known: ${file} is not the output of an earlier \`audit verify --json\`: ${(error as Error).message}`,
    );
  }
};

const stateOf = ({ broken_at, known_found }: ActionChain, known: ActionChain['head']): string => {
  if (broken_at !== null) return `broken at action ${broken_at}`;
  if (known_found === false) return `lacks the known action ${known?.action_id}`;
  return 'intact';
};

/** What one command has looked at of one target is a row of each service, and one line. */
const inLines = <Row extends Pick<OperatorAction, 'action' | 'target' | 'after'>>(
  rows: readonly Row[],
): Row[] => {
  const seen = new Set<string>();
  return rows.filter(({ action, target, after }) => {
    const { inspection_id } = (after ?? {}) as { inspection_id?: unknown };
    if (action !== 'account.inspect' || typeof inspection_id !== 'string') return true;
    const line = `${inspection_id} ${target}`;
    const isFirst = !seen.has(line);
    seen.add(line);
    return isFirst;
  });
};

export const auditCommands: readonly Command[] = [
  {
    name: 'audit verify',
    args: '',
    summary: 'Checks that no recorded action of an operator was changed, removed or inserted later',
    details:
      'Each action has a hash of its content and of the action before it. --known <file> also checks that the newest actions of an earlier `audit verify --json` are still there: without it, actions that were removed from the end are not noticed. The exit code is 1 if a record is not intact.',
    show: async (operator, _args, { known }) => {
      const heads = knownHeads(known);
      const chains = await Promise.all(
        serviceNames.map(async (service) => {
          const head = heads.get(service) ?? null;
          const chain = await operator.call(serviceContracts[service], 'verifyOperatorActions', {
            known: head,
          });
          return { service, ...chain, state: stateOf(chain, head) };
        }),
      );
      const rows = chains.map(({ service, actions, head, state }) => [
        service,
        `${actions}`,
        head?.hash.slice(0, 16) ?? '–',
        state,
      ]);
      return {
        json: chains,
        text: tableText([['service', 'actions', 'newest hash', 'state'], ...rows]),
        code: chains.every(({ state }) => state === 'intact') ? 0 : 1,
      };
    },
  },
  {
    name: 'audit',
    args: '',
    summary: 'Lists what operators have changed and looked at in all services, newest first',
    details: [
      '--account <acct_…> lists who looked at an account and who changed it. A look at a payment is one at each account that',
      'the payment names. One look is a row in each service that has shown something. --limit applies per service. --json adds',
      'the states before and after, and the proofs.',
    ].join('\n'),
    show: async (operator, _args, { limit, account }) => {
      const target = account === null ? null : AccountId.safeParse(account);
      if (target?.success === false) throw new Refusal(`--account: ${account} is not an account id (acct_…)`);
      const which = { limit, ...(target !== null && { target: target.data }) };
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const actions = await operator.call(serviceContracts[service], 'listOperatorActions', which);
          return actions.map((action) => ({ service, ...action }));
        }),
      );
      const all = lists
        .flat()
        // A service of an older release answers with all targets.
        .filter((action) => target === null || action.target === target.data)
        .sort((a, b) => (a.at < b.at ? 1 : -1));
      const rows = inLines(all).map(({ at, actor, action, target, reason }) => [
        at,
        actor,
        action,
        target,
        reason,
      ]);
      const text =
        all.length === 0 ? 'None.' : tableText([['at', 'actor', 'action', 'target', 'reason'], ...rows]);
      return { json: all, text };
    },
  },
];
