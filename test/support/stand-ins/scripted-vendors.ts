import type { KeyObject } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type PayOptions, payingFetch } from '../../../sdk/src/pay/main.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../../shared/lib/chain/ed25519.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { signToken } from '../../../shared/lib/tokens/compact-token.ts';
import { DELEGATE_KEY } from '../base/keys.ts';
import { type Asked, refusal, type Scripted, startScripted } from './scripted-server.ts';

/**
 * Vendors and an API that answer by a script, with tokens signed by hand: answers that no honest
 * party would send.
 */

const MINT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
export const SERVICE = newServiceId();
export const SERVICE_WALLET = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';

const signerOf = (kid: string, fill: number) => ({
  kid,
  key: privateKeyFromSeed(new Uint8Array(32).fill(fill)),
});
export const SIGNERS = {
  quote: signerOf('test.quote.1', 1),
  live: signerOf('live.quote.1', 2),
  settlement: signerOf('test.settlement.1', 3),
  retired: signerOf('test.settlement.2', 6),
  compromised: signerOf('test.settlement.3', 7),
  /** Claims to be the API's key, and is not. */
  stranger: signerOf('test.quote.1', 4),
  unknown: signerOf('test.quote.9', 5),
};

/** A quote token, by default as the API signs it. */
export const tokenFor = (resource: unknown, claims: object = {}, signer = SIGNERS.quote): string =>
  signToken(
    'quote',
    {
      env: 'test',
      quote_id: newId('q'),
      vendor_account_id: newId('acct'),
      service_id: SERVICE,
      service_name: 'Weather API',
      payout_address: MINT,
      mint: MINT,
      quote_amount: '1000',
      fee_amount: '10',
      currency: 'USDC',
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + 60_000).toISOString(),
      redeem_window_seconds: 900,
      scope: { resource },
      ...claims,
    } as Parameters<typeof signToken<'quote'>>[1],
    signer,
  );

export type Visit = { method: string; path: string; headers: IncomingHttpHeaders; body: string };
export type Said =
  /** `isEndless`: the answer never ends. */
  { status: number; headers?: Record<string, string>; body?: unknown; isEndless?: boolean } | 'lost';

/** A bill with display fields that have no effect. */
export const bill = (quote_token: string): Said => ({
  status: 402,
  body: {
    error: 'payment_required',
    quote_token,
    display_amount: '0.000001 USDC',
    quote_amount: '1',
    currency: 'USDC',
    expires_at: '2099-01-01T00:00:00.000Z',
    settle_url: 'http://127.0.0.1:1/v1/settle',
  },
});
export const settlementOf = ({ headers }: Visit): string | undefined => headers['x-settlement-id'] as string;

const startVendor = async (answer: (visit: Visit, origin: string) => Said | Promise<Said>) => {
  const visits: Visit[] = [];
  let origin = '';
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const visit = {
      method: request.method!,
      path: request.url!,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    visits.push(visit);
    const said = await answer(visit, origin);
    if (said === 'lost') return void request.socket.destroy();
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers });
    const body = said.body === undefined ? '' : JSON.stringify(said.body);
    if (said.isEndless) response.write(body.slice(0, -1));
    else response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin, visits, stop };
};

const published = ({ kid, key }: { kid: string; key: KeyObject }) => ({
  kty: 'OKP',
  crv: 'Ed25519',
  alg: 'EdDSA',
  use: 'sig',
  kid,
  x: Buffer.from(rawPublicKey(key)).toString('base64url'),
  env: kid.split('.')[0],
});

/** As the API publishes them. */
export const KEYS = [
  ...[SIGNERS.quote, SIGNERS.live, SIGNERS.settlement].map(published),
  { ...published(SIGNERS.retired), retired_at: '2020-01-01T00:00:00.000Z' },
  { ...published(SIGNERS.compromised), compromised_at: '2100-01-01T00:00:00.000Z' },
];

/** An entry of `accepts` of x402, by default one that the API can pay. */
export const requirement = (changes: object = {}) => ({
  scheme: 'exact',
  network: NETWORK,
  amount: '1000',
  asset: MINT,
  payTo: SERVICE_WALLET,
  maxTimeoutSeconds: 60,
  extra: { feePayer: SERVICE_WALLET, memo: 'an offer' },
  ...changes,
});
const inBase64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');

/** A 402 of x402, version 2. */
export const x402Bill = (...accepts: unknown[]): Said & object => ({
  status: 402,
  headers: { 'payment-required': inBase64({ x402Version: 2, resource: { url: 'https://vendor' }, accepts }) },
  body: {},
});
/** A 402 of x402, version 1, which names the price differently. */
export const x402BillV1 = (...accepts: unknown[]): Said & object => ({
  status: 402,
  body: { x402Version: 1, error: 'X-PAYMENT header is required', accepts },
});
/** The payment that a request presents. */
export const presentedIn = ({ headers }: Visit): string | undefined =>
  (headers['payment-signature'] ?? headers['x-payment'] ?? headers.authorization) as string | undefined;
export const TRANSACTION = '5'.repeat(88);
/** The answer of a vendor of x402 that was paid. */
export const x402Delivery = (body: unknown = { delivered: true }): Said & object => ({
  status: 200,
  headers: { 'payment-response': inBase64({ success: true, transaction: TRANSACTION, network: NETWORK }) },
  body,
});
/** A vendor of x402 that delivers to any caller with a payment. */
export const honestX402 =
  (changes: object = {}) =>
  (visit: Visit): Said =>
    presentedIn(visit) === undefined ? x402Bill(requirement(changes)) : x402Delivery();

/** The request of a charge of MPP, by default one that the API can pay. */
export const charge = (changes: object = {}, details: object = {}) => ({
  amount: '1000',
  currency: MINT,
  recipient: SERVICE_WALLET,
  methodDetails: { network: 'devnet', decimals: 6, feePayer: true, feePayerKey: SERVICE_WALLET, ...details },
  ...changes,
});
/** A challenge of MPP as the header has it. */
export const challengeOf = (request: object, parameters: Record<string, string> = {}): string => {
  const all = {
    ...{ id: 'c1', realm: 'vendor', method: 'solana', intent: 'charge' },
    request: Buffer.from(JSON.stringify(request)).toString('base64url'),
    ...parameters,
  };
  return `Payment ${Object.entries(all)
    .map(([name, text]) => `${name}="${text}"`)
    .join(', ')}`;
};
/** A 402 of MPP. */
export const mppBill = (...challenges: string[]): Said & object => ({
  status: 402,
  headers: { 'www-authenticate': challenges.join(', ') },
  body: {},
});
/** The answer of a vendor of MPP that was paid. */
export const mppDelivery = (body: unknown = { delivered: true }): Said & object => ({
  status: 200,
  headers: {
    'payment-receipt': Buffer.from(
      JSON.stringify({ status: 'success', method: 'solana', reference: TRANSACTION }),
    ).toString('base64url'),
  },
  body,
});

/** The delegate of the key, with these limits and these amounts paid and held today. */
export const delegateWith = (limits: object = {}, spent = '0', held = '0') => {
  const usage = { spent, held, remaining: null, resets_at: null };
  const none = { per_payment: null, daily: null, monthly: null, total: null };
  return {
    name: 'Research agent',
    limits: { ...none, ...limits },
    usage: { daily: usage, monthly: usage, total: usage },
    approval_above: null,
    external: { pay_to: 'any', origins: null },
    allowed_service_ids: null,
    expires_at: null,
  };
};

export type Harness = Awaited<ReturnType<typeof startHarness>>;

/** An API and any number of vendors, with the requests that they received. */
export const startHarness = async () => {
  const stops: (() => Promise<void>)[] = [];
  const attempts = new Map<string, { quote_token: string; settlement_id: string }>();
  const script: {
    settle: (asked: Asked) => Scripted | null;
    keys: () => Scripted | null;
    /** POST /v1/payments; by default it signs. */
    sign: (asked: Asked) => Scripted | null;
    /** The outcome that a report returns. */
    report: (asked: Asked) => Scripted | null;
    network: () => Scripted | null;
    /** GET /v1/delegates/me; by default a delegate with a limit that has paid nothing. */
    delegate: () => Scripted | null;
    /** Fields of GET /v1/settlements/:id that differ from a paid and unredeemed settlement. */
    read: (settlementId: string) => object | Scripted | null;
  } = {
    settle: () => null,
    keys: () => null,
    sign: () => null,
    report: () => null,
    network: () => null,
    delegate: () => null,
    read: () => null,
  };
  const read = (settlement_id: string): Scripted => {
    const said = script.read(settlement_id);
    if (said !== null && (said === 'lost' || 'body' in said)) return said as Scripted;
    const found = [...attempts].find(([, paid]) => paid.settlement_id === settlement_id);
    if (found === undefined && said === null) return refusal(404, 'not_found');
    const paid = { status: 'issued', chain_status: 'confirmed', settlement_token: 'settlement.token' };
    const body = { settlement_id, ...paid, tx_hash: 'h', payment_attempt_id: found?.[0], ...said };
    return { status: 200, body };
  };
  const signed = new Map<string, string>();
  const sign = ({ body }: Asked): Scripted => {
    const id = body!.payment_attempt_id as string;
    if (!signed.has(id)) signed.set(id, newId('stl'));
    const settlement_id = signed.get(id)!;
    const answer = { settlement_id, status: 'pending', payment_signature: `signed-${id}`, tx_hash: null };
    return { status: 200, body: { ...answer, transaction: 'AA==' } };
  };
  const api = await startScripted((asked) => {
    if (asked.call.startsWith('GET /.well-known/jwks.json'))
      return script.keys() ?? { status: 200, body: { keys: KEYS } };
    const [, settlementId] = /^GET \/v1\/settlements\/(\w+)$/.exec(asked.call) ?? [];
    if (settlementId !== undefined) return read(settlementId);
    if (asked.call === 'GET /v1/environments') {
      const environments = { test: { usdc_mint: MINT, x402_network: NETWORK } };
      return script.network() ?? { status: 200, body: { environments } };
    }
    if (asked.call === 'GET /v1/delegates/me')
      return script.delegate() ?? { status: 200, body: delegateWith({ daily: '90000000' }) };
    if (asked.call === 'POST /v1/payments') return script.sign(asked) ?? sign(asked);
    if (asked.call.endsWith('/report'))
      return (
        script.report(asked) ?? {
          status: 200,
          body: { settlement_id: 's', status: 'pending', tx_hash: null },
        }
      );
    if (asked.call !== 'POST /v1/settle') return refusal(404, 'not_found');
    const { payment_attempt_id, quote_token } = asked.body as Record<string, string>;
    const said = script.settle(asked);
    if (said !== null) return said;
    const attempt = attempts.get(payment_attempt_id!);
    const paid = attempt ?? { quote_token: quote_token!, settlement_id: newId('stl') };
    attempts.set(payment_attempt_id!, paid);
    const { settlement_id } = paid;
    return {
      status: 200,
      body: { settlement_id, settlement_token: 'settlement.token', status: 'confirmed', tx_hash: 'h' },
    };
  });
  stops.push(api.stop);
  return {
    api,
    script,
    /** The settlements of signed payments to vendors of x402, each once. */
    signed: () => [...signed.values()],
    /** The payments, each once. */
    paid: () => [...attempts.values()],
    vendor: async (answer: (visit: Visit, origin: string) => Said | Promise<Said>) => {
      const vendor = await startVendor(answer);
      stops.push(vendor.stop);
      return vendor;
    },
    payer: (options: Partial<PayOptions> = {}) =>
      payingFetch((url, init) => fetch(url, init), {
        baseUrl: api.baseUrl,
        delegateKey: DELEGATE_KEY,
        maxAmount: 5000n,
        ...options,
      }),
    stop: () => Promise.all(stops.map((stop) => stop())),
  };
};

/** A vendor that bills its address and delivers to any caller with a settlement. */
export const honest =
  (claims: object = {}) =>
  (visit: Visit, origin: string): Said =>
    settlementOf(visit) === undefined
      ? bill(tokenFor(`${origin}${visit.path.split('?')[0]}`, claims))
      : { status: 200, body: { by: settlementOf(visit), id: visit.headers['x-payment-request-id'] } };

export const errorOf = (answer: Promise<Response>): Promise<unknown> =>
  answer.then(
    ({ status }) => `answered ${status}`,
    (error: unknown) => error,
  );
