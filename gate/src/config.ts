import * as z from 'zod';
import { amountFault, microOf } from '../../sdk/src/amounts.ts';
import { parseUsdc } from '../../sdk/src/generated/usdc.ts';
import { matchFault } from './routes.ts';

/**
 * The file of a gate. Its scalars are read as text, so that a price is never a float. The
 * published schema also allows the numbers and booleans that an editor sees there.
 */
const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const check =
  (fault: (value: string) => string | null) => (value: string, context: z.RefinementCtx<string>) => {
    const message = fault(value);
    if (message !== null) context.addIssue({ code: 'custom', message });
  };

/**
 * A price as the gate takes it: with its unit, or with a point, which is USDC. Whole numbers
 * without a unit are micro-units elsewhere and dollars to most readers, so they are refused.
 */
const priceFault = (value: string): string | null => {
  if (/^\d+$/.test(value)) return `name the unit: '$${value}' or '${value}.0' is ${value} USDC`;
  return /^\d+\.\d+$/.test(value) ? amountFault(`$${value}`) : amountFault(value);
};

/** The micro-units of a price without a fault. */
const priceOf = (value: string): string =>
  /^\d+\.\d+$/.test(value) ? parseUsdc(value)!.toString() : microOf(value).toString();

const Price = text
  .superRefine(check(priceFault))
  .transform(priceOf)
  .describe("USDC with its unit or with a point: '$0.05', '0.05 USDC', 0.05");

const whole = (least: number, most: number) =>
  text
    .superRefine(
      check((value) =>
        /^\d{1,12}$/.test(value) && Number(value) >= least && Number(value) <= most
          ? null
          : `use a whole number from ${least} to ${most}`,
      ),
    )
    .transform(Number);

const flag = text
  .superRefine(check((value) => (/^(true|false)$/.test(value) ? null : 'use true or false')))
  .transform((value) => value === 'true');

const SECONDS: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const LONGEST_MS = 24 * 3_600_000;
const DURATION = /^(\d{1,9})(ms|s|m|h)$/;
const msOf = (value: string): number => {
  const [, count, unit] = DURATION.exec(value) ?? [];
  return unit === undefined ? Number.NaN : Math.round(Number(count) * SECONDS[unit]! * 1000);
};
const duration = text
  .superRefine(
    check((value) => {
      const ms = msOf(value);
      return ms >= 1 && ms <= LONGEST_MS ? null : "use a time like '500ms', '30s' or '5m', at most 24h";
    }),
  )
  .transform(msOf);

const addressFault = (value: string): string | null => {
  const url = /^https?:\/\//i.test(value) ? URL.parse(value) : null;
  if (url === null) return 'use an address with its scheme, like http://127.0.0.1:9000';
  if (url.username !== '' || url.password !== '') return 'leave out the user and the password';
  return url.search !== '' || url.hash !== '' ? 'leave out the query and the fragment' : null;
};
const Address = text.superRefine(check(addressFault)).transform((value) => value.replace(/\/+$/, ''));

const upstreamFault = (value: string): string | null =>
  addressFault(value) ??
  (new URL(value).pathname === '/' ? null : 'leave out the path: the gate passes paths on unchanged');
const Upstream = text.superRefine(check(upstreamFault)).transform((value) => new URL(value).origin);

const LISTEN = /^(?:(\[[0-9a-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i;
const Listen = text
  .superRefine(
    check((value) => {
      const [, , port] = LISTEN.exec(value) ?? [];
      return port === undefined || Number(port) > 65_535
        ? 'use a port, or an address with a port: 0.0.0.0:8402'
        : null;
    }),
  )
  .transform((value) => {
    const [, host = '127.0.0.1', port] = LISTEN.exec(value)!;
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });

const Prepaid = z
  .strictObject({
    units: whole(1, 1_000_000_000).describe('How many requests one payment buys'),
    ahead: whole(1, 1_000_000_000)
      .optional()
      .describe('How many of them one call of the API consumes in advance. It needs a shared store'),
    replay: flag.optional().describe('false: a repeat runs the request again, and no answer is stored'),
  })
  .describe('The price buys several requests to one address');

const Route = z
  .strictObject({
    match: text
      .superRefine(check(matchFault))
      .describe("Methods and a path: 'GET /report', 'GET,POST /reports/:city', '* /api/**'"),
    price: Price.optional(),
    free: flag.optional().describe('true: the route passes unpaid'),
    prepaid: Prepaid.optional(),
  })
  .superRefine(({ price, free, prepaid }, context) => {
    if ((price === undefined) === (free !== true))
      context.addIssue({ code: 'custom', message: 'name either a price or free: true' });
    if (prepaid !== undefined && price === undefined)
      context.addIssue({
        code: 'custom',
        path: ['prepaid'],
        message: 'a free route has no prepaid requests',
      });
  });

export const GateFile = z
  .strictObject({
    mode: z
      .enum(['proxy', 'authorize'])
      .optional()
      .describe('authorize: forwards nothing, and answers the questions of another proxy. Default proxy'),
    upstream: Upstream.optional().describe('Where unchanged requests go: http://127.0.0.1:9000'),
    listen: Listen.optional().describe('Default 127.0.0.1:8402'),
    operations: Listen.optional().describe(
      'Where /healthz, /readyz and /metrics are. Default 127.0.0.1:9402',
    ),
    quittance_url: Address.optional().describe('The payment API. Default: QUITTANCE_URL'),
    service_id: text.optional().describe('The id of the service. Default: SERVICE_ID'),
    public_url: Address.optional().describe('What buyers type. Default: PUBLIC_URL'),
    routes: z.array(Route).optional().describe('The first that matches counts'),
    unmatched: z
      .enum(['pass', 'refuse'])
      .optional()
      .describe('Requests that match no route pass unpaid, or get 404. Default pass'),
    dialects: z
      .array(z.enum(['x402', 'mpp']))
      .optional()
      .describe('Further protocols. They need OFFER_SECRET'),
    trust_proxy: flag.optional().describe('true: a proxy before the gate sets X-Forwarded-*. Default false'),
    timeouts: z
      .strictObject({
        connect: duration.optional().describe('Default 5s'),
        answer: duration.optional().describe('Until the first line of the answer. Default 60s'),
        idle: duration.optional().describe('Between two parts of a body. Default 5m'),
        drain: duration.optional().describe('How long calls may go on after SIGTERM. Default 30s'),
      })
      .optional(),
    hash_bytes: whole(0, 104_857_600)
      .optional()
      .describe('How much of a body identifies a paid request. Longer bodies are streamed. Default 1 MiB'),
    stored_bytes: whole(0, 16_777_216)
      .optional()
      .describe('The longest answer that is stored for a repeat. Default 64 KiB'),
  })
  .describe('The file of a gate of Quittance');
export type GateFile = z.output<typeof GateFile>;

/** The schema for editors: JSON Schema of the file. */
export const fileSchema = (): object => z.toJSONSchema(GateFile, { io: 'input', target: 'draft-7' });
