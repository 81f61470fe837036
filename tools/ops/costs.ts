import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

type Costs = z.infer<typeof chainSubmitter.internal.getCosts.output>;
type Sum = Costs['platform'][number];

const PERIOD = /^\d{4}-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?$/;

/** The month of a time, in UTC. */
const monthOf = (now: Date): string => now.toISOString().slice(0, 7);

const periodOf = (text: string | null): string => {
  const period = text ?? monthOf(new Date());
  const day = period.length > 7 ? new Date(`${period}T00:00:00Z`) : null;
  // 31 November would be read as the first of December.
  if (!PERIOD.test(period) || (day !== null && day.toISOString().slice(0, 10) !== period))
    throw new Refusal(`--period: ${period} is neither a month (2026-11) nor a day (2026-11-28)`);
  return period;
};

const LAMPORTS = 1_000_000_000n;
/** Exact, because costs are compared with the change of the fee payer's balance. */
const solOf = (lamports: bigint): string => {
  const [sign, size] = lamports < 0n ? ['-', -lamports] : ['', lamports];
  return `${sign}${size / LAMPORTS}.${String(size % LAMPORTS).padStart(9, '0')}`;
};

const HEAD = ['kind', 'transactions', 'fees, SOL', 'rent, SOL', 'together, SOL'];
const cellsOf = ({ kind, transactions, fee_lamports, rent_lamports }: Sum): string[] => {
  const [fee, rent] = [BigInt(fee_lamports), BigInt(rent_lamports)];
  return [kind, String(transactions), solOf(fee), solOf(rent), solOf(fee + rent)];
};

/** All kinds of a period as one row. */
const totalOf = (sums: readonly Sum[]): Sum => {
  const of = (name: 'fee_lamports' | 'rent_lamports') =>
    String(sums.reduce((total, sum) => total + BigInt(sum[name]), 0n));
  return {
    kind: 'all',
    transactions: sums.reduce((total, { transactions }) => total + transactions, 0),
    fee_lamports: of('fee_lamports'),
    rent_lamports: of('rent_lamports'),
  };
};

const textOf = ({ from, before, platform, accounts, unread }: Costs): string =>
  [
    `Costs on the chain from ${from} until ${before} (UTC), as the chain took them.`,
    tableText([HEAD, ...[...platform, totalOf(platform)].map(cellsOf)]),
    `Accounts in the month from ${from.slice(0, 7)}-01, the highest first.`,
    tableText([['account', ...HEAD], ...accounts.map((sum) => [sum.account_id, ...cellsOf(sum)])]),
    ...(unread === 0 ? [] : [`Not included: ${unread} transactions whose cost no provider has told yet.`]),
  ].join('\n\n');

export const costsCommands: readonly Command[] = [
  {
    name: 'costs',
    args: '',
    summary: 'Shows the lamports that the chain took: fees and rent by kind, and by account and month',
    details:
      '--period names a month or a day, this month by default. --account shows one account. A cost counts on the day on which its transaction was final.',
    show: async (operator, _args, { account, period, limit }) => {
      const costs = await operator.call(chainSubmitter, 'getCosts', {
        period: periodOf(period),
        account_id: account,
        limit,
      });
      return { json: costs, text: textOf(costs) };
    },
  },
];
