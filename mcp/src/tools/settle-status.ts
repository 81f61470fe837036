import * as z from 'zod';
import { inBoth, micro, usdc } from '../amounts.ts';
import { answerWith, refuseWith } from '../answers.ts';
import { paymentOf, paymentShape, settlementId } from './shapes.ts';
import { answering, type Register } from './tools.ts';

const inputSchema = z.object({
  settlement_id: settlementId.optional(),
  approval_id: z
    .string()
    .regex(/^apr_[0-9a-z]{26}$/)
    .optional()
    .describe('apr_… of a payment that waits for its owner'),
});
const outputSchema = z.object({
  payment: paymentShape.nullable(),
  approval: z
    .object({
      approval_id: z.string(),
      status: z.string().describe('awaiting_approval, approved, denied or expired'),
      amount: micro,
      amount_usdc: usdc,
      payee_name: z.string(),
      expires_at: z.string(),
      settlement_id: z.string().nullable(),
    })
    .nullable(),
});

/** The state of one payment, or of an approval. */
export const registerSettleStatus: Register = (server, { client }) => {
  const config = {
    title: 'State of a payment',
    description:
      'The state of one payment by settlement_id, or of a payment that waits for approval by approval_id.',
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool('settle_status', config, ({ settlement_id, approval_id }) =>
    answering(async () => {
      if (settlement_id !== undefined)
        return answerWith({
          payment: paymentOf(await client.settlement.get({ settlement_id })),
          approval: null,
        });
      if (approval_id === undefined)
        return refuseWith({
          code: 'invalid_request',
          message: 'settlement_id or approval_id is missing.',
          money_moved: 'no',
          what_to_do: 'Name one of them.',
        });
      const of = await client.settlement.getApproval({ approval_id });
      const approval = {
        approval_id,
        status: of.status,
        ...inBoth({ amount: of.amount }),
        payee_name: of.service_name,
        expires_at: of.expires_at,
        settlement_id: of.settlement_id,
      };
      return answerWith({ payment: null, approval });
    }),
  );
};
