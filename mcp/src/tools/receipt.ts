import * as z from 'zod';
import { paidTo } from '../../../cli/src/text/paid-to.ts';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { ConflictError } from '../../../sdk/src/main.ts';
import { answerWith } from '../answers.ts';
import { paymentOf, paymentShape, settlementId } from './shapes.ts';
import { answering, type Register, type Tools } from './tools.ts';

const outputSchema = z.object({
  receipt: paymentShape.extend({
    redeemed_at: z.string().nullable(),
    units_remaining: z.int().nullable().describe('Of a prepaid settlement'),
    text: z.string().describe('The receipt in one sentence'),
    receipt_url: z
      .string()
      .nullable()
      .describe('A page with the signed receipt, for the person. Null while the payment is not confirmed'),
  }),
});

/** The page of a receipt. Null: the payment is not confirmed, or it is one that has no receipt. */
const receiptUrlOf = async (client: Tools['client'], settlement_id: string): Promise<string | null> => {
  try {
    return (await client.settlement.getReceipt({ settlement_id })).receipt_url;
  } catch (error) {
    if (error instanceof ConflictError) return null;
    throw error;
  }
};

/** One payment with its transaction. */
export const registerReceipt: Register = (server, { client }) => {
  const config = {
    title: 'Receipt',
    description:
      'One payment with its amount, payee and transaction, and the address of its signed receipt (receipt_url), to show to the person.',
    inputSchema: z.object({ settlement_id: settlementId }),
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool('receipt', config, ({ settlement_id }) =>
    answering(async () => {
      const found = await client.settlement.get({ settlement_id });
      const payment = paymentOf(found);
      const by = payment.tx_hash === null ? 'no transaction is known yet' : `transaction ${payment.tx_hash}`;
      const what = payment.item === null ? '' : ` for ${payment.item}`;
      const text = `${displayUsdc(payment.amount)} to ${paidTo(found)}${what} on ${payment.created_at}, ${payment.chain_status}, ${by}.`;
      const units_remaining = found.units_remaining ?? null;
      const receipt_url = await receiptUrlOf(client, settlement_id);
      const { redeemed_at } = found;
      return answerWith({ receipt: { ...payment, redeemed_at, units_remaining, text, receipt_url } });
    }),
  );
};
