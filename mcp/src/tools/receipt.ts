import * as z from 'zod';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { answerWith } from '../answers.ts';
import { paymentOf, paymentShape, settlementId } from './shapes.ts';
import { answering, type Register } from './tools.ts';

const outputSchema = z.object({
  receipt: paymentShape.extend({
    redeemed_at: z.string().nullable(),
    units_remaining: z.int().nullable().describe('Of a prepaid settlement'),
    text: z.string().describe('The receipt in one sentence'),
  }),
});

/** One payment with its transaction. */
export const registerReceipt: Register = (server, { client }) => {
  const config = {
    title: 'Receipt',
    description: 'One payment with its amount, payee and transaction, to show to the person.',
    inputSchema: z.object({ settlement_id: settlementId }),
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool('receipt', config, ({ settlement_id }) =>
    answering(async () => {
      const found = await client.settlement.get({ settlement_id });
      const payment = paymentOf(found);
      const by = payment.tx_hash === null ? 'no transaction is known yet' : `transaction ${payment.tx_hash}`;
      const text = `${displayUsdc(payment.amount)} to ${payment.payee_name} on ${payment.created_at}, ${payment.chain_status}, ${by}.`;
      const units_remaining = found.units_remaining ?? null;
      return answerWith({ receipt: { ...payment, redeemed_at: found.redeemed_at, units_remaining, text } });
    }),
  );
};
