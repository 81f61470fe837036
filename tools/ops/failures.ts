import { settlement } from '../../shared/contract/settlement.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

const HOUR_MS = 3_600_000;

export const failuresCommands: readonly Command[] = [
  {
    name: 'payments failed',
    args: '',
    summary: 'Shows why payments failed in the last hour, and which of them a fork has reversed',
    details:
      '--since names another time. It is the time of the payment, not of its failure. The newest 100,000 payments are read at most.',
    show: async (operator, _args, { since, limit }) => {
      const from = since ?? new Date(Date.now() - HOUR_MS).toISOString();
      const json = await operator.call(settlement, 'listFailures', { since: from, limit });
      const failed = json.failed.reduce((sum, { payments }) => sum + payments, 0);
      return {
        json: { since: from, ...json },
        text: [
          `Of ${json.payments} payments since ${from}${json.all ? '' : ' (the newest that are read)'}, ${failed} failed and ${json.reversed.length} were reversed.`,
          ...(json.failed.length === 0
            ? []
            : [
                tableText([
                  ['payments', 'vendors', 'code', 'newest', 'why'],
                  ...json.failed.map((one) => [
                    String(one.payments),
                    String(one.vendors),
                    one.failure_code,
                    one.newest,
                    one.failure_message,
                  ]),
                ]),
              ]),
          ...(json.reversed.length === 0
            ? []
            : [
                tableText([
                  ['reversed', 'vendor', 'amount', 'status', 'redeemed', 'why'],
                  ...json.reversed.map((one) => [
                    one.settlement_id,
                    one.vendor_account_id ?? '–',
                    displayUsdc(BigInt(one.amount)),
                    one.status,
                    one.redeemed_at ?? 'no',
                    one.failure_code ?? '–',
                  ]),
                ]),
              ]),
        ].join('\n\n'),
      };
    },
  },
];
