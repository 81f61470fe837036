import { config as quoteConfig } from '../services/quote/config.ts';
import { config as settlementConfig } from '../services/settlement/config.ts';
import { DELAYS_SECONDS } from '../services/webhook/deliveries/model/schedule.ts';
import type { Json } from '../shared/contract/examples.ts';
import { contractList } from '../shared/contract/index.ts';
import { limitText, openApiDocument } from '../shared/contract/openapi.ts';
import type { HttpOperation } from '../shared/contract/service.ts';
import { MEANINGS } from '../shared/contract/webhook/meanings.ts';
import { MAX_ENDPOINTS, MAX_REDELIVERED } from '../shared/contract/webhook/operations.ts';
import { ACCESS_TOKEN_SECONDS } from '../shared/lib/access-token.ts';
import { code, table } from './map-page.ts';

/** The guides whose figures and examples are the contract's: docs/guides/limits.md and events.md. */

const GENERATED =
  '<!-- Written by `npm run generate` from tools/guide-pages.ts and the contract; do not edit. -->';
const document = openApiDocument({ serverUrl: 'https://api.quittance.example' });

const number = (value: bigint | number): string => value.toLocaleString('en-US');
const usdc = (micro: bigint): string =>
  `${(Number(micro) / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })} USDC`;
const percent = (bps: bigint): string => `${Number(bps) / 100} %`;

const UNITS = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
] as const;
const time = (seconds: number): string => {
  const [unit, name] = UNITS.find(([length]) => seconds % length === 0)!;
  return `${number(seconds / unit)} ${name}${seconds === unit ? '' : 's'}`;
};

/** The default of a setting of a service. */
const defaultOf = (shape: Record<string, unknown>, name: string): bigint =>
  (shape[name] as { parse: (value: undefined) => bigint }).parse(undefined);

/** Lowest and highest value of a field of a request body. */
const boundsOf = (path: string, field: string): { minimum: number; maximum: number } => {
  const { post } = (document.paths as Record<string, { post: { requestBody: Json } }>)[path]!;
  const { schema } = (post.requestBody.content as Record<string, { schema: Json }>)['application/json']!;
  return (schema.properties as Record<string, { minimum: number; maximum: number }>)[field]!;
};

const operations: [string, HttpOperation][] = contractList.flatMap(({ operations }) =>
  Object.values(operations).map((op): [string, HttpOperation] => [`${op.http.method} ${op.http.path}`, op]),
);
/** The two windows that most operations have are rows of their own. */
const OTHERS: Record<string, string> = {
  '120 per minute per account': 'other reads',
  '30 per minute per account': 'other writes',
};
const requestLimits = (): string => {
  const byLimit = Map.groupBy(operations, ([, { limits }]) => limits.map(limitText).join('; '));
  const rows = [...byLimit].map(([limit, calls]) => [
    OTHERS[limit] ?? calls.map(([call]) => code(call)).join(', '),
    limit,
  ]);
  return table(
    ['Calls', 'Limit'],
    rows.toSorted(([a], [b]) => Number(a!.startsWith('o')) - Number(b!.startsWith('o'))),
  );
};

const fees = (): string => {
  const [share, least] = ['FEE_BPS', 'FEE_MIN_MICRO'].map((name) => defaultOf(quoteConfig.shape, name));
  const [x402Share, x402Least, first, credit] = [
    'X402_FEE_BPS',
    'X402_FEE_MIN_MICRO',
    'X402_FIRST_CREDIT_MICRO',
    'X402_CREDIT_MICRO',
  ].map((name) => defaultOf(settlementConfig.shape, name));
  return table(
    ['Item', 'Value'],
    [
      ['Fee of a quote', `${percent(share!)}, at least ${usdc(least!)}. The vendor pays it out of the price`],
      ['Smallest price of a quote', `more than ${usdc(least!)}, because it must exceed the fee`],
      [
        'Fee of an x402 payment',
        `${percent(x402Share!)}, at least ${usdc(x402Least!)} and its network fee. It accrues on the vendor’s account`,
      ],
      ['Credit for accrued fees', `${usdc(first!)} before your first payment of fees, then ${usdc(credit!)}`],
      ['Network fees', 'none: the platform pays them'],
    ],
  );
};

const caps = (): string => {
  const wallet = defaultOf(settlementConfig.shape, 'WALLET_HOURLY_CAP_MICRO');
  const environment = defaultOf(settlementConfig.shape, 'ENVIRONMENT_HOURLY_CAP_MICRO');
  return table(
    ['Payments in one UTC hour', 'At most'],
    [
      ['of one wallet', usdc(wallet)],
      ['of one account', usdc(environment / 10n)],
      ['of the whole environment', usdc(environment)],
    ],
  );
};

const periods = (): string => {
  const expiry = boundsOf('/v1/quote', 'expires_in_seconds');
  const redeem = boundsOf('/v1/quote', 'redeem_window_seconds');
  const grace = boundsOf('/v1/services', 'key_grace_hours');
  return table(
    ['Item', 'Limit'],
    [
      ['Body of a request', '64 KiB'],
      ['`scope` of a quote', '4,096 bytes of JSON'],
      ['Validity of a quote', `${time(expiry.minimum)} to ${time(expiry.maximum)}, by default 10 minutes`],
      ['Time to redeem', `${time(redeem.minimum)} to ${time(redeem.maximum)}, by default 15 minutes`],
      [
        'Wait of a settle',
        `${time(Number(settlementConfig.shape.SETTLE_WAIT_MS.parse(undefined)) / 1000)}, then 202`,
      ],
      ['`Idempotency-Key`', '1 to 255 characters, remembered for 24 hours'],
      ['Access token', time(ACCESS_TOKEN_SECONDS)],
      ['Previous key after a rotation', `0 to ${grace.maximum} hours, by default 24`],
      ['Webhook endpoints of an account', number(MAX_ENDPOINTS)],
      ['Events of one redelivery', number(MAX_REDELIVERED)],
      [
        'Attempts of a webhook',
        `${DELAYS_SECONDS.length + 1}, over about three days ([schedule](#webhook-attempts))`,
      ],
      ['Events at `GET /v1/events`', '30 days'],
      ['Services that a delegate may be restricted to', '100'],
      ['Addresses and origins of `external`', '50 each'],
      ['Token accounts that the platform pays for', '3 for each account'],
    ],
  );
};

/** docs/guides/limits.md. */
export const limitsGuide = (): string => `# Limits and fees

${GENERATED}

The figures are the defaults. An operator can raise the request limits of an account, and can configure fees and caps.

## Fees

${fees()}

\`fee_amount\` of a quote is its fee. \`net_amount\` of a service is what you receive for its price.

## Request limits

A window slides, and counts the calls of an account over all its credentials. Beyond a limit the API answers 429 \`rate_limited\` with
\`Retry-After\`. Wait that long and repeat the same call with the same ids. Every answer has \`RateLimit\` and \`RateLimit-Policy\`.

${requestLimits()}

## Caps on money

${caps()}

A payment above a cap is refused, and no money moves. The error has \`limit\` with what was asked, the cap, what is left and \`resets_at\`.

A delegate has its own limits, which its owner sets: \`per_payment\`, \`daily\`, \`monthly\` and \`total\`. They hold for any number of concurrent
calls and for all replicas. Days and months are UTC. A payment that is under way holds its amount, so a limit is never exceeded.
\`GET /v1/delegates/me\` shows what is spent, held and left.

## Sizes and periods

${periods()}

The [reference](/docs) has the bounds of every field.

## Webhook attempts

The first attempt is made at once. Each wait varies by a tenth, so that repeats do not come at the same moment.

${table(
  ['Attempt', 'After the one before it'],
  DELAYS_SECONDS.map((seconds, index) => [String(index + 2), time(seconds)]),
)}
`;

const eventSection = (type: string, meaning: string): string => {
  const { post } = (document.webhooks as Record<string, { post: { requestBody: Json } }>)[type]!;
  const { example } = (post.requestBody.content as Record<string, { example: Json }>)['application/json']!;
  return `## ${type}\n\n${meaning}\n\n\`\`\`json\n${JSON.stringify({ ...example, type }, null, 2)}\n\`\`\``;
};

/** docs/guides/events.md. */
export const eventsGuide = (): string => {
  const types = Object.entries(MEANINGS);
  return `# Events

${GENERATED}

A webhook endpoint names the types that it gets: single ones, groups like \`settlement.*\`, or \`*\`. \`GET /v1/events\` returns the same events.
[Webhooks](webhooks.md) describes how to receive them. Payloads may gain fields, and new types may come: ignore what you do not know.

Events of a payment go to its payer and to its vendor. \`role\` says in which role your account gets it, and some fields depend on it. The
[reference](/docs) has every field.

${table(
  ['Type', 'When'],
  types.map(([type, meaning]) => [`[\`${type}\`](#${type.replace('.', '')})`, meaning]),
)}

${types.map(([type, meaning]) => eventSection(type, meaning)).join('\n\n')}
`;
};
