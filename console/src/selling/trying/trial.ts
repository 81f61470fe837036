import {
  createTokenVerifier,
  type Environment,
  type QuoteClaims,
} from '../../../../sdk/src/checks/tokens.ts';
import { createClient } from '../../../../sdk/src/main.ts';
import { createPaywall, memoryStore } from '../../../../sdk/src/paywall/main.ts';
import type { Fetch } from '../../../../sdk/src/transport.ts';
import { TRIAL_SHOP } from '../../payments/own-quotes.ts';
import type { Exchanged } from '../sales/http-text.ts';

/**
 * The whole 402 exchange in a page. The SDK's paywall is the vendor, on web-standard Request and
 * Response, with the code of its middlewares. All calls of the API are real, and recorded.
 */

/** It is signed into the quote; nothing is sent there. */
export const RESOURCE = `${TRIAL_SHOP}/report`;

export type Trial = {
  ask: () => Promise<Step>;
  verify: () => Promise<Step>;
  settle: () => Promise<Step>;
  call: () => Promise<Step>;
  redeem: () => Promise<Step>;
};
/** The result of a step. `problem` is why it failed: an error of the SDK, or a text. */
export type Step = {
  /** Between buyer and vendor. */
  exchanged: readonly Exchanged[];
  /** With the API. */
  api: readonly Exchanged[];
  claims?: QuoteClaims;
  problem: unknown;
};
type TrialOptions = {
  baseUrl: string;
  environment: Environment;
  service: { service_id: string; price: string };
  serviceKey: string;
  /** The payer: a delegate key, or an access token of the account, requested when needed. */
  payer: () => Promise<string>;
  /** Called with every secret as soon as it is known, so that no output shows it. */
  onSecret: (secret: string, name: string) => void;
};

const headersOf = (headers: Headers): Record<string, string> => Object.fromEntries(headers.entries());
const recorded = async (request: Request, body: string | null, response: Response): Promise<Exchanged> => ({
  method: request.method,
  url: request.url,
  headers: headersOf(request.headers),
  body,
  answer: {
    status: response.status,
    headers: headersOf(response.headers),
    body: await response.clone().text(),
  },
});

const isRedeem = ({ url }: Exchanged): boolean => url.endsWith('/redeem');

/** Why the paywall refused a call, as its vendor sees it. */
const REASONS: Record<string, string> = {
  no_quote:
    'The API returned no quote (see its answer below). Most likely the key belongs to another service.',
  vendor_configuration: 'The API refused the service key. Nothing was redeemed; the payment is still valid.',
  being_confirmed: 'A fork removed the payment; it is being sent again. Retry in a few seconds.',
  invalid_token: 'The settlement token was not signed by the API.',
  settlement_expired: 'The settlement was not redeemed in time. Start again.',
  spent: 'Another request already redeemed this payment.',
};
const reasonOf = (exchanged: Exchanged): string => {
  const reason = /"reason":"(\w+)"/.exec(exchanged.answer?.body ?? '')?.[1] ?? '';
  return REASONS[reason] ?? `The vendor answered ${exchanged.answer?.status} ${reason}`.trim();
};

/** Records the calls of each step, and replaces secrets that the API returns. */
const createRecorder = (onSecret: TrialOptions['onSecret']) => {
  let api: Exchanged[] = [];
  const record: Fetch = async (url, init) => {
    const body = typeof init.body === 'string' ? init.body : null;
    // A Request has the headers that would be sent, in lower case.
    const request = new Request(url, { method: init.method ?? 'GET', headers: init.headers ?? {} });
    const place =
      api.push({ method: request.method, url, headers: headersOf(request.headers), body, answer: null }) - 1;
    const into = api;
    const response = await fetch(url, init);
    const token = /"settlement_token":"([^"]+)"/.exec(await response.clone().text())?.[1];
    if (token !== undefined) onSecret(token, 'SETTLEMENT_TOKEN');
    into[place] = await recorded(request, body, response);
    return response;
  };
  /** Each step records its own calls, and its error is its problem. */
  const step = async (run: () => Promise<Partial<Step>>): Promise<Step> => {
    api = [];
    const mine = api;
    try {
      return { exchanged: [], problem: null, ...(await run()), api: mine };
    } catch (problem) {
      return { exchanged: [], problem, api: mine };
    }
  };
  return { record, step, addFirst: (calls: readonly Exchanged[]): void => void api.unshift(...calls) };
};

/** A vendor with one report, behind the SDK's paywall. */
const createShop = (
  { baseUrl, environment, service, serviceKey }: Omit<TrialOptions, 'payer' | 'onSecret'>,
  record: Fetch,
) => {
  const paywall = createPaywall({
    baseUrl,
    serviceKey,
    serviceId: service.service_id,
    environment,
    publicUrl: TRIAL_SHOP,
    store: memoryStore(),
    // The page shows each call with its error.
    log: () => {},
    fetch: record,
  });
  return paywall.protect({ price: service.price }, () =>
    Response.json({ report: 'All is well.', delivered_at: new Date().toISOString() }),
  );
};

export const createTrial = ({
  baseUrl,
  environment,
  service,
  serviceKey,
  payer,
  onSecret,
}: TrialOptions): Trial => {
  const { record, step, addFirst } = createRecorder(onSecret);
  let quoteToken = '';
  let settlement: { settlement_id: string; settlement_token: string } | null = null;
  let attempt = crypto.randomUUID();
  let redeemed: Exchanged[] = [];
  const serve = createShop({ baseUrl, environment, service, serviceKey }, record);
  const callShop = async (): Promise<Exchanged> => {
    const shown = settlement ?? { settlement_id: '', settlement_token: '' };
    const paid = { 'x-settlement-id': shown.settlement_id, 'x-settlement-token': shown.settlement_token };
    const request = new Request(RESOURCE, {
      headers: {
        accept: 'application/json',
        'x-payment-request-id': attempt,
        ...(settlement === null ? {} : paid),
      },
    });
    return recorded(request, null, await serve(request));
  };

  return {
    ask: () =>
      step(async () => {
        const exchanged = await callShop();
        const body = JSON.parse(exchanged.answer!.body) as { quote_token?: string };
        if (exchanged.answer!.status !== 402 || body.quote_token === undefined)
          return { exchanged: [exchanged], problem: reasonOf(exchanged) };
        quoteToken = body.quote_token;
        return { exchanged: [exchanged] };
      }),
    verify: () =>
      step(async () => {
        const client = createClient({ baseUrl, fetch: record });
        const keys = async () => (await client.gateway.jwks({ environment })).keys;
        const claims = await createTokenVerifier(environment, keys)('quote', quoteToken);
        if (Date.parse(claims.expires_at) < Date.now())
          return { claims, problem: 'The quote has expired. Start again.' };
        return claims.scope?.resource === RESOURCE
          ? { claims }
          : { claims, problem: 'The quote is for another address: a buyer must not pay it.' };
      }),
    settle: () =>
      step(async () => {
        const client = createClient({ baseUrl, credential: await payer(), fetch: record });
        const paid = await client.settlement.settle({ quote_token: quoteToken, payment_attempt_id: attempt });
        settlement = { settlement_id: paid.settlement_id, settlement_token: paid.settlement_token };
        return {};
      }).then((done) => {
        // Refused for good, and nothing moved. A retry is a new attempt.
        const { moneyMoved } = (done.problem ?? {}) as { moneyMoved?: string };
        if (moneyMoved === 'no') attempt = crypto.randomUUID();
        return done;
      }),
    call: () =>
      step(async () => {
        const exchanged = await callShop();
        return {
          exchanged: [exchanged],
          problem: exchanged.answer!.status === 200 ? null : reasonOf(exchanged),
        };
      }).then((done) => {
        if (done.problem !== null) return done;
        // The next step is about the middleware's redeem.
        redeemed = done.api.filter(isRedeem);
        return { ...done, api: done.api.filter((each) => !isRedeem(each)) };
      }),
    redeem: () =>
      step(async () => {
        const client = createClient({ baseUrl, credential: serviceKey, fetch: record });
        // With another id than the delivery's, as a thief of the token or a second server would.
        const { replayed } = await client.settlement.redeem({
          ...settlement!,
          redeem_id: crypto.randomUUID(),
        });
        const again = await callShop();
        addFirst(redeemed);
        return {
          exchanged: [again],
          problem: replayed ? null : 'The settlement could be redeemed a second time.',
        };
      }),
  };
};
