import { identity, MAX_LIMIT_FACTOR } from '../../shared/contract/identity.ts';
import type { Inspection } from '../../shared/contract/operator.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { accountStatusesOutput, accountStatusOf, changeOutput, changeTable } from './account-status.ts';
import { type Command, inspectionInput, type Plan } from './command.ts';
import type { Operator } from './connect.ts';

const planFactor = async (
  operator: Operator,
  argument: string | undefined,
  factor: number,
  inspection: Inspection | null,
): Promise<Plan> => {
  const status = await accountStatusOf(operator, argument, inspection);
  const { account_id, limit_factor } = status;
  return {
    table: limit_factor === factor ? null : changeTable(status, 'limits', [`×${limit_factor}`, `×${factor}`]),
    notes: [
      'Takes effect within 2 s on every gateway, for all limits per account. Limits per address do not change.',
    ],
    make: async (attribution) =>
      changeOutput(
        await operator.call(identity, 'setLimitFactor', { account_id, limit_factor: factor, ...attribution }),
      ),
  };
};

const factorOf = (argument: string | undefined): number => {
  const factor = /^[1-9][0-9]{0,3}$/.test(argument ?? '') ? Number(argument) : 0;
  if (factor < 2 || factor > MAX_LIMIT_FACTOR)
    throw new Refusal(
      `the factor must be a whole number from 2 to ${MAX_LIMIT_FACTOR}; use \`limits clear\` for 1`,
    );
  return factor;
};

export const limitsCommands: readonly Command[] = [
  {
    name: 'limits list',
    args: '',
    summary: 'Lists accounts that are frozen or have raised limits',
    details: '',
    inspects: true,
    show: async (operator, _args, { limit, inspection }) =>
      accountStatusesOutput(
        await operator.call(identity, 'listAccountStatuses', { limit, ...inspectionInput(inspection) }),
      ),
  },
  {
    name: 'limits set',
    args: '<account_id> <factor>',
    summary: `Multiplies the request limits of an account, by 2 to ${MAX_LIMIT_FACTOR}`,
    details: '',
    plan: (operator, [account, factor], { inspection }) =>
      planFactor(operator, account, factorOf(factor), inspection),
  },
  {
    name: 'limits clear',
    args: '<account_id>',
    summary: 'Resets the request limits of an account to those of the contract',
    details: '',
    plan: (operator, [account], { inspection }) => planFactor(operator, account, 1, inspection),
  },
];
