import type { z } from 'zod';
import { chainSubmitter, MAX_COSIGNING_FACTOR } from '../../shared/contract/chain-submitter.ts';
import { accountStatusOf, changeTable } from './account-status.ts';
import type { Command, Planned, Said } from './command.ts';
import type { Operator } from './connect.ts';
import { Refusal } from './refusal.ts';
import { tableText } from './table.ts';

type Cosigning = z.infer<typeof chainSubmitter.internal.getCosigningLimits.output>;

const saidOf = (json: unknown, { account_id, factor, cosignatures, revokes }: Cosigning): Said => ({
  json,
  text: tableText([
    ['account', 'factor', 'co-signed today', 'of', 'revoked today', 'of'],
    [
      ...[account_id, `×${factor}`, String(cosignatures.used), String(cosignatures.per_day)],
      ...[String(revokes.used), String(revokes.per_day)],
    ],
  ]),
});

const cosigningOf = async (operator: Operator, word: string | undefined) => {
  const status = await accountStatusOf(operator, word);
  const { account_id } = status;
  return { status, cosigning: await operator.call(chainSubmitter, 'getCosigningLimits', { account_id }) };
};

const planFactor = async (operator: Operator, word: string | undefined, factor: number): Promise<Planned> => {
  const { status, cosigning } = await cosigningOf(operator, word);
  const { account_id } = status;
  return {
    table:
      cosigning.factor === factor
        ? null
        : changeTable(status, 'co-signatures a day', [`×${cosigning.factor}`, `×${factor}`]),
    notes: ['At once, for approvals, withdrawals, refunds and revocations. The budgets in lamports stay.'],
    make: async (signed) => {
      const answer = await operator.call(chainSubmitter, 'setCosigningFactor', {
        account_id,
        factor,
        ...signed,
      });
      return saidOf(answer, answer.cosigning);
    },
  };
};

const factorOf = (word: string | undefined): number => {
  const factor = /^[1-9][0-9]{0,3}$/.test(word ?? '') ? Number(word) : 0;
  if (factor < 2 || factor > MAX_COSIGNING_FACTOR)
    throw new Refusal(
      `the factor is a whole number from 2 to ${MAX_COSIGNING_FACTOR}; \`budgets clear\` is 1`,
    );
  return factor;
};

export const budgetsCommands: readonly Command[] = [
  {
    name: 'budgets show',
    words: '<account_id>',
    summary: 'How many transactions an account may have co-signed a day, and had today',
    details: '',
    show: async (operator, [account]) => {
      const { cosigning } = await cosigningOf(operator, account);
      return saidOf(cosigning, cosigning);
    },
  },
  {
    name: 'budgets set',
    words: '<account_id> <factor>',
    summary: `Multiplies what an account may have co-signed a day, by 2 to ${MAX_COSIGNING_FACTOR}`,
    details: '',
    plan: (operator, [account, factor]) => planFactor(operator, account, factorOf(factor)),
  },
  {
    name: 'budgets clear',
    words: '<account_id>',
    summary: 'Gives an account the usual number again',
    details: '',
    plan: (operator, [account]) => planFactor(operator, account, 1),
  },
];
