import { refusal, type Scripted } from './scripted-server.ts';

/** Authorizations of a vendor's scripted API: use, capture and void, as the real one decides. */
export type Held = {
  service_id: string;
  scope: { resource: string; tab?: true };
  /** Who decides what is captured: the use that was reported, or the vendor up to the ceiling. */
  mode: 'usage' | 'manual';
  max: bigint;
  used: bigint;
  /** What the payer has paid. Null: it is not captured. */
  captured: bigint | null;
  usages: Map<string, string>;
  status: 'authorized' | 'captured' | 'voided';
  /** The wallet no longer covers it. */
  isAtRisk: boolean;
  endsAt: number;
  endedAt: string | null;
  /** The quote that it has paid. */
  quote_id: string;
  /** What was added to its ceiling, by the attempt that added it. */
  extensions: Map<string, bigint>;
};

const MOST_EXTENSIONS = 20;

const FEE = 10_000n;

const shown = ({ mode, max, used, status, isAtRisk, endsAt, endedAt }: Held) => ({
  mode,
  max_amount: String(max),
  used: String(used),
  left: String(status === 'authorized' && !isAtRisk ? max - used : 0n),
  unit_price: null,
  least_capture: String(FEE + 1n),
  capture_ends_at: new Date(endsAt).toISOString(),
  at_risk_at: isAtRisk ? new Date().toISOString() : null,
  voided_at: status === 'voided' ? endedAt : null,
});

type Use = { usage_id: string; amount: string };

const use = (held: Held, usages: readonly Use[]): Scripted => {
  const fresh = usages.filter(({ usage_id }) => !held.usages.has(usage_id));
  const isChanged = usages.some(
    ({ usage_id, amount }) => held.usages.has(usage_id) && held.usages.get(usage_id) !== amount,
  );
  if (isChanged) return refusal(409, 'conflict');
  if (fresh.length > 0 && (held.status !== 'authorized' || held.isAtRisk))
    return refusal(409, 'authorization_closed');
  const more = fresh.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  if (held.used + more > held.max) return refusal(409, 'usage_exceeds_authorization');
  for (const { usage_id, amount } of fresh) held.usages.set(usage_id, amount);
  held.used += more;
  const [max_amount, used, left] = [held.max, held.used, held.max - held.used].map(String);
  return { status: 200, body: { max_amount, used, left } };
};

/** @param asked the amount that a vendor names; only in mode `manual` it may exceed the use */
const capture = (held: Held, asked: unknown): Scripted => {
  if (held.status === 'voided') return refusal(409, 'authorization_closed');
  const amount = asked === undefined ? held.used : BigInt(asked as string);
  if (amount > (held.mode === 'manual' ? held.max : held.used))
    return refusal(409, 'usage_exceeds_authorization');
  if (amount <= FEE) return refusal(409, 'capture_below_fee');
  held.status = 'captured';
  held.endedAt ??= new Date().toISOString();
  held.captured ??= amount;
  return {
    status: 200,
    body: { status: 'confirmed', captured_amount: String(held.captured), fee_amount: String(FEE) },
  };
};

const voided = (held: Held, discard: unknown): Scripted => {
  if (held.status === 'captured' || (held.used > 0n && discard !== true)) return refusal(409, 'conflict');
  held.status = 'voided';
  held.endedAt ??= new Date().toISOString();
  return { status: 200, body: { status: 'voided', used: String(held.used) } };
};

/** Settles a quote that extends the ceiling: once for each attempt. */
export const extend = (held: Held, attempt: string, added: bigint): 'extended' | 'closed' => {
  if (held.extensions.has(attempt)) return 'extended';
  if (held.status !== 'authorized' || held.isAtRisk || held.extensions.size >= MOST_EXTENSIONS)
    return 'closed';
  held.extensions.set(attempt, added);
  held.max += added;
  return 'extended';
};

/** The answer of an action on an authorization. */
export const onAuthorization = (held: Held, action: string, body: Record<string, unknown>): Scripted => {
  switch (action) {
    case 'verify':
      return {
        status: 200,
        body: {
          ...{
            service_id: held.service_id,
            scope: held.scope,
            quote_amount: String(held.captured ?? held.max),
            fee_amount: String(FEE),
            redeemed_at: held.endedAt,
          },
          status: held.status === 'captured' ? 'redeemed' : held.status,
          chain_status: 'none',
          authorization: shown(held),
        },
      };
    case 'usage':
      return use(held, body.usages as Use[]);
    case 'capture':
      return capture(held, body.amount);
    case 'void':
      return voided(held, body.discard_usage);
    default:
      return refusal(409, 'conflict');
  }
};
