import * as z from 'zod';
import { CAP_NAMES, COUNTED_NAMES } from '../../../sdk/src/generated/limits.ts';
import { inBoth, micro, usdc } from '../amounts.ts';
import { answerWith } from '../answers.ts';
import { answering, type Register } from './tools.ts';

const limit = z.string().optional().describe('USDC micro-units. Left out: no limit');
const limitUsdc = z.string().optional().describe('The same in USDC');
const usage = z.object({
  spent: micro,
  spent_usdc: usdc,
  held: z.string().describe('Reserved by payments whose outcome is open. USDC micro-units'),
  held_usdc: usdc,
  remaining: limit,
  remaining_usdc: limitUsdc,
});
const byName = <N extends string, T>(names: readonly N[], make: (name: N) => T): Record<N, T> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, T>;
const outputSchema = z.object({
  name: z.string(),
  limits: z.object({
    ...byName(CAP_NAMES, () => limit),
    ...byName(
      CAP_NAMES.map((name) => `${name}_usdc` as const),
      () => limitUsdc,
    ),
  }),
  usage: z.object(byName(COUNTED_NAMES, () => usage)),
  approval_above: limit.describe('The owner must approve a payment above it. Left out: none'),
  approval_above_usdc: limitUsdc,
  pays_x402_vendors: z.boolean().describe('True: vendors that do not use Quittance can be paid'),
  allowed_service_ids: z.array(z.string()).optional().describe('Left out: any service'),
  expires_at: z.string().optional().describe('Left out: it does not expire'),
  this_server: z
    .object({
      max_amount: micro,
      max_amount_usdc: usdc,
      max_per_day: micro,
      max_per_day_usdc: usdc,
      ask_above: micro,
      ask_above_usdc: usdc,
    })
    .describe('What this server allows besides, by the settings of the person who runs it'),
});

type Usage = { spent: string; held: string; remaining: string | null };
const usageOf = ({ spent, held, remaining }: Usage) => inBoth({ spent, held, remaining });

type Fields = Record<string, unknown>;

/** What is set. A model pays for every null that it reads. */
const withoutNulls = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => {
      if (value === null) return [];
      const isMap = typeof value === 'object' && !Array.isArray(value);
      return [[name, isMap ? withoutNulls(value as Fields) : value]];
    }),
  );

/** The limits of the key, and what is left of them. */
export const registerBudget: Register = (server, { client, settings }) => {
  const config = {
    title: 'Budget',
    description:
      'The limits of the key of this server, and what is spent, held and left, in USDC and micro-units.',
    inputSchema: z.object({}),
    outputSchema,
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
  server.registerTool('budget', config, () =>
    answering(async () => {
      const own = await client.identity.getOwnDelegate();
      const { limits, usage: used } = own;
      return answerWith(
        withoutNulls({
          name: own.name,
          limits: inBoth(byName(CAP_NAMES, (name) => limits[name] ?? null)),
          usage: byName(COUNTED_NAMES, (name) => usageOf(used[name])),
          ...inBoth({ approval_above: own.approval_above }),
          pays_x402_vendors: own.external !== null,
          allowed_service_ids: own.allowed_service_ids,
          expires_at: own.expires_at,
          this_server: inBoth({
            max_amount: String(settings.maxAmountMicro),
            max_per_day: String(settings.maxPerDayMicro),
            ask_above: String(settings.askAboveMicro),
          }),
        }),
      );
    }),
  );
};
