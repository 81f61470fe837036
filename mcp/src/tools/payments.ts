import * as z from 'zod';
import { answerWith } from '../answers.ts';
import { paymentOf, paymentShape } from './shapes.ts';
import { answering, type Register } from './tools.ts';

const inputSchema = z.object({
  limit: z.int().min(1).max(50).optional().describe('Default: 10'),
  cursor: z.string().max(1024).optional().describe('next_cursor of the page before'),
});
const outputSchema = z.object({ payments: z.array(paymentShape), next_cursor: z.string().nullable() });

/** The latest payments of the key. */
export const registerPayments: Register = (server, { client }) => {
  const config = {
    title: 'Payments',
    description: 'The payments of the key of this server, newest first.',
    inputSchema,
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool('payments', config, ({ limit = 10, cursor }) =>
    answering(async () => {
      const page = await client.settlement.list({
        limit: String(limit),
        ...(cursor === undefined ? {} : { cursor }),
      });
      return answerWith({ payments: page.data.map(paymentOf), next_cursor: page.next_cursor });
    }),
  );
};
