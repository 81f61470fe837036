import type { CaptureTerms } from '../../shared/contract/quote/capture.ts';
import type { QuoteClaims } from '../../shared/contract/tokens.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { signToken } from '../../shared/lib/compact-token.ts';
import { privateKeyFromSeed, publicKeyFromRaw, rawPublicKey } from '../../shared/lib/ed25519.ts';
import { newId, newServiceId } from '../../shared/lib/id.ts';
import type { PublicKeys } from '../../shared/lib/keys.ts';

/** The signing keys of the settlement fixture, its vendor, and the quotes that the vendor signs. */
export const MINT = 'So11111111111111111111111111111111111111112';
export const PAYOUT = 'SysvarC1ock11111111111111111111111111111111';

const seedOf = (fill: number) => Buffer.alloc(32, fill);
const signingKey = (kid: string, fill: number) => ({ kid, key: privateKeyFromSeed(seedOf(fill)) });
const quoteKey = signingKey('test.quote.1', 1);
export const settlementKey = signingKey('test.settlement.1', 2);
/** The setting SIGNING_KEYS. */
export const signingSetting = `${settlementKey.kid}:${seedOf(2).toString('base64url')}`;

export const publicKeys: PublicKeys = new Map(
  [quoteKey, settlementKey].map(({ kid, key }) => {
    const [env, use] = kid.split('.') as [string, 'quote' | 'settlement'];
    const raw = rawPublicKey(key);
    const x = Buffer.from(raw).toString('base64url');
    return [kid, { kid, env, use, x, key: publicKeyFromRaw(raw), retiredAt: null, compromisedAt: null }];
  }),
);

export const vendor = { account_id: newId('acct'), service_id: newServiceId() };

export type QuoteOptions = {
  /** Of a quote that is signed anew. */
  quote_id?: string;
  expiresInMs?: number;
  window?: number;
  scope?: QuoteClaims['scope'];
  mint?: string;
  /** The amount is a ceiling. */
  capture?: CaptureTerms;
  /** The quote whose authorization it raises. */
  extends?: string;
  /** Whose quote it is. */
  of?: { account_id: string; service_id: string };
};

/** Capture terms with the fee of the fixture's quotes. */
export const captureTerms = (terms: Partial<CaptureTerms> = {}): CaptureTerms => ({
  mode: 'manual',
  window_seconds: 3600,
  unit_price: null,
  threshold: null,
  fee: { bps: 50, min: '10000' },
  ...terms,
});

export const signQuote = (
  now: number,
  amount: bigint,
  {
    expiresInMs = 600_000,
    window = 900,
    scope = null,
    mint = MINT,
    of = vendor,
    capture,
    quote_id = newId('q'),
    ...more
  }: QuoteOptions = {},
): { quote_id: string; quote_token: string } => {
  const quote_token = signToken(
    'quote',
    {
      env: 'test',
      quote_id,
      vendor_account_id: of.account_id,
      service_id: of.service_id,
      service_name: 'Weather',
      payout_address: PAYOUT,
      mint,
      quote_amount: `${amount}`,
      fee_amount: more.extends === undefined ? '10000' : String((amount * 50n) / 10_000n),
      currency: 'USDC',
      issued_at: isoTime(now),
      expires_at: isoTime(now + expiresInMs),
      redeem_window_seconds: window,
      scope,
      ...(capture !== undefined && { capture }),
      ...more,
    },
    quoteKey,
  );
  return { quote_id, quote_token };
};
