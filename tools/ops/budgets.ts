import type { z } from 'zod';
import { chainSubmitter, MAX_COSIGNING_FACTOR } from '../../shared/contract/chain-submitter.ts';
import type { Inspection } from '../../shared/contract/operator.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { accountStatusOf, changeTable } from './account-status.ts';
import { type Command, type CommandOutput, inspectionInput, type Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Cosigning = z.infer<typeof chainSubmitter.internal.getCosigningLimits.output>;

const outputOf = (
  json: unknown,
  { account_id, factor, cosignatures, revokes }: Cosigning,
): CommandOutput => ({
  json,
  text: tableText([
    ['account', 'factor', 'co-signed today', 'of', 'revoked today', 'of'],
    [
      account_id,
      `×${factor}`,
      String(cosignatures.used),
      String(cosignatures.per_day),
      String(revokes.used),
      String(revokes.per_day),
    ],
  ]),
});

const cosigningOf = async (
  operator: Operator,
  argument: string | undefined,
  inspection: Inspection | null,
) => {
  const status = await accountStatusOf(operator, argument, inspection);
  const { account_id } = status;
  return {
    status,
    cosigning: await operator.call(chainSubmitter, 'getCosigningLimits', {
      account_id,
      ...inspectionInput(inspection),
    }),
  };
};

const planFactor = async (
  operator: Operator,
  argument: string | undefined,
  factor: number,
  inspection: Inspection | null,
): Promise<Plan> => {
  const { status, cosigning } = await cosigningOf(operator, argument, inspection);
  const { account_id } = status;
  return {
    table:
      cosigning.factor === factor
        ? null
        : changeTable(status, 'co-signatures a day', [`×${cosigning.factor}`, `×${factor}`]),
    notes: [
      'Takes effect at once for approvals, withdrawals, refunds and revocations. The budgets in lamports do not change.',
    ],
    make: async (attribution) => {
      const answer = await operator.call(chainSubmitter, 'setCosigningFactor', {
        account_id,
        factor,
        ...attribution,
      });
      return outputOf(answer, answer.cosigning);
    },
  };
};

const factorOf = (argument: string | undefined): number => {
  const factor = /^[1-9][0-9]{0,3}$/.test(argument ?? '') ? Number(argument) : 0;
  if (factor < 2 || factor > MAX_COSIGNING_FACTOR)
    throw new Refusal(
      `the factor must be a whole number from 2 to ${MAX_COSIGNING_FACTOR}; use \`budgets clear\` for 1`,
    );
  return factor;
};

export const budgetsCommands: readonly Command[] = [
  {
    name: 'budgets show',
    args: '<account_id>',
    summary:
      'Shows how many transactions of an account the platform co-signs per day, and how many it co-signed today',
    details: '',
    inspects: true,
    show: async (operator, [account], { inspection }) => {
      const { cosigning } = await cosigningOf(operator, account, inspection);
      return outputOf(cosigning, cosigning);
    },
  },
  {
    name: 'budgets set',
    args: '<account_id> <factor>',
    summary: `Multiplies an account’s daily number of co-signatures by 2 to ${MAX_COSIGNING_FACTOR}`,
    details: '',
    plan: (operator, [account, factor], { inspection }) =>
      planFactor(operator, account, factorOf(factor), inspection),
  },
  {
    name: 'budgets clear',
    args: '<account_id>',
    summary: 'Resets an account’s daily number of co-signatures',
    details: '',
    plan: (operator, [account], { inspection }) => planFactor(operator, account, 1, inspection),
  },
];
