import {
  createPaywall,
  memoryStore,
  type PaywallEvent,
  type PaywallOptions,
  paymentOf,
} from '../../../sdk/src/paywall/main.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../../shared/lib/chain/ed25519.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { SERVICE_KEY } from '../base/keys.ts';
import { type Asked, refusal, type Scripted, startScripted } from './scripted-server.ts';
import { extend, type Held, onAuthorization } from './vendor-authorizations.ts';

/**
 * The part of the API that a vendor uses, over HTTP and with real signatures. A test can replace or
 * drop its answers. test/e2e uses the real API.
 */
const keyPair = (kid: string, fill: number) => {
  const key = privateKeyFromSeed(new Uint8Array(32).fill(fill));
  const x = Buffer.from(rawPublicKey(key)).toString('base64url');
  const [env] = kid.split('.');
  return {
    signing: { kid, key },
    published: { kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x, env },
  };
};
const quoteKey = keyPair('test.quote.1', 1);
const settlementKey = keyPair('test.settlement.1', 2);

type Scope = { resource: string; units?: number; tab?: true };
type Settled = {
  service_id: string;
  scope: Scope;
  quote_amount: string;
  redeem_id: string | null;
  redeemed: boolean;
  consumed: string[];
};
export const PUBLIC_URL = 'https://shop.example.com';
export const RESOURCE = `${PUBLIC_URL}/report`;
/** As the API gives them to a vendor on devnet. */
export const TERMS = {
  network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  mpp_network: 'devnet',
  mint: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
  decimals: 6,
  token_program: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  fee_payer: '7EcDhSYGxXyscszYEp35KHN8vvw3svAuLKTzXwCFLtV',
  payout_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
  fee: { bps: 50, min: '2000', fee_wallet: '9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g' },
};
const IN_A_WHILE = new Date(Date.now() + 600_000).toISOString();

export const startVendorApi = async () => {
  const [serviceId, vendorAccountId] = [newServiceId(), newId('acct')];
  const settlements = new Map<string, Settled>();
  const authorizations = new Map<string, Held>();
  /** The settlement tokens of authorizations. */
  const tokens = new Map<string, string>();
  const faults: ((asked: Asked) => Scripted | null)[] = [];

  /** What happened to the quotes that were created. */
  const quotes = new Map<string, 'pending' | 'settling' | 'settled'>();

  /** The redeem id of each transaction of another client. */
  const incoming = new Map<string, { settlement_id: string; redeem_id: string }>();
  const acceptForeign = ({ transaction, redeem_id, quote_amount }: Record<string, string>): Scripted => {
    const found = incoming.get(transaction!);
    const paid = found ?? { settlement_id: newId('stl'), redeem_id: redeem_id! };
    incoming.set(transaction!, paid);
    const body = {
      ...paid,
      status: 'confirmed',
      tx_hash: 'the transaction',
      quote_amount,
      fee_amount: '0',
      payer_address: 'the payer',
      source_account: 'the source',
      redeemed_at: '2026-01-01T00:00:00.000Z',
      replayed: found !== undefined,
    };
    return { status: 200, body };
  };

  type QuoteBody = {
    quote_amount: string;
    scope: Scope;
    expires_in_seconds: number;
    capture?: Held['mode'];
    max_amount?: string;
    capture_window_seconds?: number;
    extends?: string;
  };
  /** The authorization that has paid a quote. */
  const heldBy = (quoteId: string): [string, Held] | undefined =>
    [...authorizations].find(([, { quote_id }]) => quote_id === quoteId);
  /** The body of a quote that extends an authorization, with what it takes over from its first. */
  const extended = (body: QuoteBody, { scope, mode }: Held): QuoteBody => ({
    ...body,
    ...{ scope, capture: mode, capture_window_seconds: 3600 },
  });
  const quote = (asked: QuoteBody): Scripted => {
    const held = asked.extends === undefined ? undefined : heldBy(asked.extends)?.[1];
    if (asked.extends !== undefined && held?.status !== 'authorized')
      return refusal(409, 'authorization_closed');
    const body = held === undefined ? asked : extended(asked, held);
    const { scope, expires_in_seconds, max_amount } = body;
    const quote_amount = max_amount ?? body.quote_amount;
    const capture = body.capture && {
      mode: body.capture,
      window_seconds: body.capture_window_seconds!,
      unit_price: null,
      threshold: null,
      fee: { bps: 50, min: '10000' },
    };
    const claims = {
      env: 'test' as const,
      quote_id: newId('q'),
      vendor_account_id: vendorAccountId,
      service_id: serviceId,
      service_name: 'Shop',
      payout_address: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
      mint: '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T',
      quote_amount,
      fee_amount: '10000',
      currency: 'USDC' as const,
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + expires_in_seconds * 1000).toISOString(),
      redeem_window_seconds: 900,
      scope,
      ...(capture && { capture }),
      ...(body.extends !== undefined && { extends: body.extends }),
    };
    quotes.set(claims.quote_id, 'pending');
    const quote_token = signToken('quote', claims, quoteKey.signing);
    const { quote_id, fee_amount, currency, expires_at } = claims;
    const said = { quote_id, quote_token, quote_amount, fee_amount, currency, expires_at, status: 'pending' };
    const more = body.extends === undefined ? {} : { extends: body.extends };
    return { status: 201, body: { ...said, ...(capture && { capture, max_amount }), ...more } };
  };

  const onSettlement = (id: string, action: string, body: Record<string, unknown>): Scripted => {
    const held = authorizations.get(id);
    if (held !== undefined) return onAuthorization(held, action, body);
    const found = settlements.get(id);
    if (found === undefined) return refusal(404, 'not_found');
    const { scope, quote_amount, service_id } = found;
    const unitsLeft = () => (scope.units ?? 0) - found.consumed.length;
    if (action === 'verify')
      return {
        status: 200,
        body: {
          ...{ service_id, scope, quote_amount, chain_status: 'confirmed' },
          ...(scope.units === undefined ? {} : { units_remaining: unitsLeft() }),
        },
      };
    if (action === 'redeem') {
      const replayed = found.redeemed;
      if (!replayed) Object.assign(found, { redeemed: true, redeem_id: body.redeem_id });
      return { status: 200, body: { replayed, redeem_id: found.redeem_id } };
    }
    const request = body.request_id as string;
    const asked = Number(body.units ?? 1);
    if (!found.consumed.includes(request)) {
      if (asked > unitsLeft()) return refusal(409, 'settlement_exhausted');
      found.consumed.push(...Array<string>(asked).fill(request));
    }
    const units_consumed = found.consumed.length;
    return { status: 200, body: { units_consumed, units_remaining: unitsLeft() } };
  };

  const limits: { quoteHeaders: Record<string, string> } = { quoteHeaders: {} };
  const running = await startScripted((asked) => {
    for (const fault of faults) {
      const said = fault(asked);
      if (said !== null) return said;
    }
    const { call, body } = asked;
    if (call.startsWith('GET /.well-known/jwks.json'))
      return { status: 200, body: { keys: [quoteKey.published, settlementKey.published] } };
    if (call === 'POST /v1/quote')
      return { ...(quote(body as QuoteBody) as object), headers: limits.quoteHeaders } as Scripted;
    if (call === 'GET /v1/settlements/foreign/terms') return { status: 200, body: TERMS };
    if (call === 'POST /v1/settlements/foreign') return acceptForeign(body as Record<string, string>);
    const [, quoteId] = /^GET \/v1\/quotes\/(\w+)$/.exec(call) ?? [];
    if (quoteId !== undefined) {
      const status = quotes.get(quoteId);
      return status === undefined ? refusal(404, 'not_found') : { status: 200, body: { status } };
    }
    if (call === 'POST /v1/settle') return settle(body as SettleBody);
    const [, read] = /^GET \/v1\/settlements\/(\w+)$/.exec(call) ?? [];
    if (read !== undefined) return onSettlement(read, 'verify', {});
    const [, id, action] = /^POST \/v1\/settlements\/(\w+)\/(\w+)$/.exec(call)!;
    return onSettlement(id!, action!, body ?? {});
  });

  /** A payment as a buyer presents it: headers of a settlement for a scope. */
  const pay = (
    scope: Scope,
    {
      amount = '50000',
      service = serviceId,
      signer = settlementKey.signing,
      quote_id = newId('q'),
      issued_at = new Date().toISOString(),
    } = {},
  ): Record<string, string> => {
    const settlement_id = newId('stl');
    const claims = {
      env: 'test' as const,
      settlement_id,
      quote_id,
      service_id: service,
      quote_amount: amount,
      issued_at,
      redeem_expires_at: IN_A_WHILE,
    };
    settlements.set(settlement_id, {
      service_id: service,
      scope,
      quote_amount: amount,
      redeem_id: null,
      redeemed: false,
      consumed: [],
    });
    const token = signToken('settlement', claims, signer);
    return { 'x-settlement-id': settlement_id, 'x-settlement-token': token };
  };

  /** An authorization as a buyer presents it. */
  const authorize = (
    scope: Held['scope'],
    max: bigint,
    quote_id = newId('q'),
    issued_at = new Date().toISOString(),
  ) => {
    const headers = pay(scope, { amount: String(max), quote_id, issued_at });
    const id = headers['x-settlement-id']!;
    settlements.delete(id);
    const fresh = {
      used: 0n,
      captured: null,
      usages: new Map(),
      status: 'authorized',
      isAtRisk: false,
      endedAt: null,
    } as const;
    const ids = { service_id: serviceId, quote_id, extensions: new Map() };
    const held: Held = { ...ids, scope, mode: 'usage', max, endsAt: Date.now() + 3_600_000, ...fresh };
    authorizations.set(id, held);
    tokens.set(id, headers['x-settlement-token']!);
    return { headers, held };
  };
  type SettleBody = { quote_token: string; payment_attempt_id: string };
  const authorized = (id: string, { max, endsAt }: Held, more: object = {}): Scripted => ({
    status: 200,
    body: {
      ...{ settlement_id: id, settlement_token: tokens.get(id), status: 'authorized', tx_hash: null },
      ...{ max_amount: String(max), capture_ends_at: new Date(endsAt).toISOString(), ...more },
    },
  });
  /** Settles a quote with `extends`: the ceiling of that authorization is extended. */
  const extendOpen = (
    claims: { quote_id: string; extends: string; quote_amount: string },
    attempt: string,
  ): Scripted => {
    const [id, held] = heldBy(claims.extends)!;
    if (quotes.get(claims.quote_id) !== 'pending' && !held.extensions.has(attempt))
      return refusal(409, 'quote_already_settled', { money_moved: 'no', safe_action: 'new_quote' });
    if (extend(held, attempt, BigInt(claims.quote_amount)) === 'closed')
      return refusal(409, 'authorization_closed', { money_moved: 'no', safe_action: 'new_quote' });
    quotes.set(claims.quote_id, 'settled');
    return authorized(id, held, { extension_id: newId('stl') });
  };

  /** Settles a quote with `capture`: its ceiling is authorized. */
  const settle = ({ quote_token, payment_attempt_id }: SettleBody): Scripted => {
    const claims = JSON.parse(Buffer.from(quote_token.split('.')[0]!, 'base64url').toString());
    if (claims.extends !== undefined) return extendOpen(claims, payment_attempt_id);
    if (quotes.get(claims.quote_id) !== 'pending') return refusal(409, 'quote_already_settled');
    quotes.set(claims.quote_id, 'settled');
    const { headers, held } = authorize(claims.scope, BigInt(claims.quote_amount), claims.quote_id);
    held.mode = claims.capture.mode;
    return authorized(headers['x-settlement-id']!, held);
  };

  const log: PaywallEvent[] = [];
  return {
    authorizations,
    authorize,
    baseUrl: running.baseUrl,
    serviceId,
    /** Headers of the answers to created quotes, as the gateway reports a limit. */
    set quoteHeaders(headers: Record<string, string>) {
      limits.quoteHeaders = headers;
    },
    pay,
    quotes,
    settlements,
    incoming,
    faults,
    log,
    /** Calls except those for keys. */
    calls: () =>
      running.asked.map(({ call }) => call.split('/').at(-1)!).filter((call) => !call.startsWith('jwks')),
    asked: running.asked,
    stranger: keyPair('test.settlement.1', 3).signing,
    unknown: keyPair('test.settlement.9', 3).signing,
    /** A paywall of this vendor. Another one acts as another replica. */
    paywall: (options: Partial<PaywallOptions> = {}) =>
      createPaywall({
        baseUrl: running.baseUrl,
        serviceKey: SERVICE_KEY,
        serviceId,
        environment: 'test',
        publicUrl: PUBLIC_URL,
        store: memoryStore(),
        log: (event) => log.push(event),
        ...options,
      }),
    stop: running.stop,
  };
};
export type VendorApi = Awaited<ReturnType<typeof startVendorApi>>;

/** A Host header that an attacker chose. It must have no effect. */
export const at = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  new Request(`http://evil.example${path}`, { ...init, headers });

/**
 * A route with a handler that counts its runs and returns the given answers, the last one for all
 * further runs.
 */
export const sellBy = (
  api: VendorApi,
  answers: (() => Response | Promise<Response>)[] = [() => Response.json({ report: 'yes' })],
  options: Partial<PaywallOptions> = {},
) => {
  const deliveries: string[] = [];
  const serve = api.paywall(options).protect({ price: '50000' }, (request) => {
    deliveries.push(paymentOf(request)!.deliveryId);
    return answers[Math.min(deliveries.length, answers.length) - 1]!();
  });
  return { serve, deliveries };
};
export type Sell = (
  answers?: (() => Response | Promise<Response>)[],
  options?: Partial<PaywallOptions>,
) => ReturnType<typeof sellBy>;

export const readAnswer = async (response: Promise<Response>) => {
  const { status, headers } = await response;
  const text = await (await response).text();
  return { status, headers, body: text === '' ? null : JSON.parse(text) };
};
/** `402 payment_failed spent`, or the status of another answer. */
export const reasonOf = async (response: Promise<Response>): Promise<string> => {
  const { status, body } = await readAnswer(response);
  return [status, body.error, body.details?.reason].filter((part) => part !== undefined).join(' ');
};
