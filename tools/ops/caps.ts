import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import type { getCapsOperation } from '../../shared/contract/operator.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { formatUsdc } from '../../shared/lib/money/usdc.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';
import { answerOrNull } from './within.ts';

type Caps = z.infer<typeof getCapsOperation.output>;

const rowsOf = (what: string, { environment_cap, account_cap, wallet_cap, used }: Caps): string[][] => [
  [what, 'each wallet', '', '', formatUsdc(wallet_cap), ''],
  [what, 'each account', '', '', formatUsdc(account_cap), ''],
  [what, 'environment', '', '', formatUsdc(environment_cap), ''],
  ...used.map(({ of, id, reserved, cap, resets_at }) => [
    what,
    of,
    id ?? '',
    formatUsdc(reserved),
    formatUsdc(cap),
    resets_at,
  ]),
];

type Budgets = z.infer<typeof chainSubmitter.internal.getBudgets.output>;

const budgetsText = (budgets: Budgets | null): string[] => {
  if (budgets === null) return ['No answer about the lamport budgets.'];
  const { incoming_failures: failures, incoming_failures_per_day: perDay } = budgets;
  return [
    tableText([
      ['lamports today', 'of', 'which', 'reserved', 'budget', 'used'],
      ...[
        ...budgets.budgets.map((one) => ({ ...one, of: 'environment', account_id: '' })),
        ...budgets.most,
      ].map(({ budget, of, account_id, reserved, per_day }) => [
        budget,
        of,
        account_id,
        String(reserved),
        String(per_day),
        `${per_day === 0 ? 0 : Math.round((reserved / per_day) * 100)} %`,
      ]),
    ]),
    ...(failures.length === 0
      ? []
      : [
          tableText([
            ['payments that failed on the chain today', 'of'],
            ...failures.map((one) => [`${one.account_id} ${one.failures}`, String(perDay)]),
          ]),
        ]),
  ];
};

export const capsCommands: readonly Command[] = [
  {
    name: 'caps show',
    args: '',
    summary: 'Shows the hourly caps and the lamport budgets of today, and who uses most of them',
    details: 'Processes reserve hundredths of a cap in advance, so the figures can be slightly too high.',
    show: async (operator) => {
      const [accepted, signed, budgets] = await Promise.all([
        operator.call(settlement, 'getCaps', {}),
        operator.call(chainSubmitter, 'getCaps', {}),
        answerOrNull(operator.call(chainSubmitter, 'getBudgets', {})),
      ]);
      return {
        json: { accepted, signed, budgets },
        text: [
          tableText([
            ['what', 'of', 'which', 'USDC reserved', 'cap', 'until'],
            ...rowsOf('accepted', accepted),
            ...rowsOf('signed', signed),
          ]),
          ...budgetsText(budgets),
        ].join('\n\n'),
      };
    },
  },
];
