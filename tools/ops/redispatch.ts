import { SettlementId } from '../../shared/contract/primitives.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

export const redispatchCommands: readonly Command[] = [
  {
    name: 'payments redispatch',
    args: '<settlement_id>',
    summary: 'Dispatches the job of an open payment again at once',
    details:
      'The sweeper does so after 15 s without progress. A payment is never made twice, because the attempt is recorded.',
    plan: async (operator, [argument]) => {
      const id = SettlementId.safeParse(argument);
      if (!id.success) throw new Refusal(`${argument} is not a settlement id (stl_…)`);
      return {
        table: [
          ['settlement', 'what', 'then'],
          [id.data, 'its job', 'is dispatched again'],
        ],
        notes: ['Refused if the payment is completed.'],
        make: async (attribution) => {
          const answer = await operator.call(settlement, 'redispatchSettlement', {
            settlement_id: id.data,
            ...attribution,
          });
          return {
            json: answer,
            text: tableText([
              ['settlement', 'status', 'on chain', 'dispatches'],
              [id.data, answer.status, answer.chain_status, String(answer.dispatch_count)],
            ]),
          };
        },
      };
    },
  },
];
