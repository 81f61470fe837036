import { SettlementId } from '../../shared/contract/primitives.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import type { Command } from './command.ts';
import { Refusal } from './refusal.ts';
import { tableText } from './table.ts';

export const redriveCommands: readonly Command[] = [
  {
    name: 'redrive',
    words: '<settlement_id>',
    summary: 'Sends the work of a payment that is under way again at once',
    details:
      'The sweeper does it by itself after 15 s without progress. It can never pay twice: the attempt is known.',
    plan: async (operator, [word]) => {
      const id = SettlementId.safeParse(word);
      if (!id.success) throw new Refusal(`${word} is no settlement id (stl_…)`);
      return {
        table: [
          ['settlement', 'what', 'then'],
          [id.data, 'its job', 'is sent again'],
        ],
        notes: ['Refused when the payment has come to its end.'],
        make: async (signed) => {
          const answer = await operator.call(settlement, 'redispatchSettlement', {
            settlement_id: id.data,
            ...signed,
          });
          return {
            json: answer,
            text: tableText([
              ['settlement', 'status', 'on chain', 'sent so far'],
              [id.data, answer.status, answer.chain_status, String(answer.dispatch_count)],
            ]),
          };
        },
      };
    },
  },
];
