import type { Quote, Vendor } from '../../../deploy/local/seed/actors.ts';
import { type Answer, type Api, must } from '../../../deploy/local/seed/api.ts';

/** Calls of the public API about authorizations, as a vendor and its buyers make them. */
export const CEILING = 500_000n;

/** What an error says. */
type Refused = { error?: { code: string; message: string; money_moved?: string } };
export type Tab = { settlement_id: string; settlement_token: string };
type Authorized = Tab & {
  status: string;
  tx_hash: null;
  max_amount: string;
  capture_ends_at: string;
  extension_id?: string;
};
type Used = { settlement_id: string; max_amount: string; used: string; left: string };
type Captured = {
  status: 'confirmed' | 'pending';
  captured_amount: string;
  fee_amount: string;
  net_amount: string;
  max_amount: string;
  tx_hash: string | null;
};
type Voided = { status: string; voided_at: string; used: string };
type Verified = {
  status: string;
  chain_status: string;
  quote_amount: string;
  authorization: { used: string; left: string; at_risk_at: string | null; voided_at: string | null };
};
export type TabQuote = Quote & { max_amount: string; capture: Record<string, unknown> };

export const tabCalls = (api: Api, vendor: Pick<Vendor, 'apiKey' | 'serviceId'>) => {
  const call =
    <T>(action: 'usage' | 'capture' | 'void' | 'verify' | 'redeem' | 'consume') =>
    (settlementId: string, body?: object, token = vendor.apiKey): Promise<Answer<T & Refused>> =>
      api<T & Refused>(`POST /v1/settlements/${settlementId}/${action}`, {
        token,
        ...(body !== undefined && { body }),
      });
  const usage = call<Used>('usage');
  const verify = call<Verified>('verify');
  return {
    /** A quote with a ceiling. What was used is captured unless the terms say otherwise. */
    quote: (terms: object = {}): Promise<TabQuote> =>
      must(
        api<TabQuote>('POST /v1/quote', {
          token: vendor.apiKey,
          body: { service_id: vendor.serviceId, capture: 'usage', max_amount: String(CEILING), ...terms },
        }),
        'quote',
      ),
    /** A quote that extends the ceiling of the quote's authorization. */
    extend: ({ quote_id }: Pick<Quote, 'quote_id'>, max_amount: string) =>
      api<TabQuote & Refused>('POST /v1/quote', {
        token: vendor.apiKey,
        body: { service_id: vendor.serviceId, extends: quote_id, max_amount },
      }),
    authorize: (token: string, quote: Pick<Quote, 'quote_token'>, attemptId: string = crypto.randomUUID()) =>
      api<Authorized & Refused>('POST /v1/settle', {
        token,
        body: { quote_token: quote.quote_token, payment_attempt_id: attemptId },
      }),
    use: ({ settlement_id, settlement_token }: Tab, uses: object, token?: string) =>
      usage(settlement_id, { settlement_token, ...uses }, token),
    capture: ({ settlement_id }: Pick<Tab, 'settlement_id'>, body?: object) =>
      call<Captured>('capture')(settlement_id, body),
    voidIt: ({ settlement_id }: Pick<Tab, 'settlement_id'>, body?: object) =>
      call<Voided>('void')(settlement_id, body),
    redeem: ({ settlement_id, settlement_token }: Tab) =>
      call<{ status: string; replayed: boolean }>('redeem')(settlement_id, { settlement_token }),
    consume: ({ settlement_id, settlement_token }: Tab) =>
      call('consume')(settlement_id, { settlement_token, units: 1, request_id: 'r1' }),
    verify: ({ settlement_id }: Pick<Tab, 'settlement_id'>): Promise<Verified> =>
      must(verify(settlement_id), 'verify'),
  };
};
