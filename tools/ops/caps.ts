import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import type { getCapsOperation } from '../../shared/contract/operator.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { formatUsdc } from '../../shared/lib/money/usdc.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

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

export const capsCommands: readonly Command[] = [
  {
    name: 'caps show',
    args: '',
    summary: 'Shows the hourly caps, and the wallets and accounts with the highest use',
    details: 'Processes reserve hundredths of a cap in advance, so the figures can be slightly too high.',
    show: async (operator) => {
      const [accepted, signed] = await Promise.all([
        operator.call(settlement, 'getCaps', {}),
        operator.call(chainSubmitter, 'getCaps', {}),
      ]);
      return {
        json: { accepted, signed },
        text: tableText([
          ['what', 'of', 'which', 'USDC reserved', 'cap', 'until'],
          ...rowsOf('accepted', accepted),
          ...rowsOf('signed', signed),
        ]),
      };
    },
  },
];
