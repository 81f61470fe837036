import type { Api } from '../../../deploy/local/seed/api.ts';

/** A buyer without the SDK: it pays vendors of x402 by `POST /v1/payments`, in plain HTTP. */

/** What a vendor's 402 asks for. The requirement is returned to the vendor unchanged. */
export type Price = { resource: string; version: 1 | 2; requirement: Requirement };
type Requirement = Record<string, unknown> & { network: string; payTo: string };

export type OutgoingPayment = {
  settlement_id: string;
  status: 'pending' | 'confirmed';
  payment_signature: string;
  transaction: string;
  tx_hash: string | null;
};
type Refused = {
  error?: {
    code: string;
    message: string;
    money_moved?: string;
    safe_action?: string;
    settlement_id?: string;
  };
};

/**
 * A vendor's answer to a payment. `receipt`: the header as it was sent. `reason`: why it was
 * refused, before or by its facilitator's settle; empty if it does not say.
 */
export type Delivery = { status: number; body: string; receipt: string | null; reason: string };

const fromBase64 = (text: string) => JSON.parse(Buffer.from(text, 'base64').toString());

/**
 * Asks a vendor for its price: the header of version 2, else the body of version 1.
 * @throws if the vendor asks for nothing
 */
export const priceOf = async (resource: string, timeoutMs = 30_000): Promise<Price> => {
  const response = await fetch(resource, { signal: AbortSignal.timeout(timeoutMs) });
  const header = response.headers.get('payment-required');
  const text = await response.text();
  if (response.status !== 402) throw new Error(`${resource} answers ${response.status}, not 402: ${text}`);
  const { x402Version: version, accepts } = header === null ? JSON.parse(text) : fromBase64(header);
  return { resource, version, requirement: accepts[0] };
};

/** Has a payment signed. A repeat with the same attempt returns the same bytes. */
export const payExternal = (
  api: Api,
  token: string,
  { resource, version, requirement }: Price,
  attemptId: string = crypto.randomUUID(),
) =>
  api<OutgoingPayment & Refused>('POST /v1/payments', {
    token,
    body: { payment_attempt_id: attemptId, resource, x402_version: version, requirement },
  });

/** Sends the signed payment to the vendor. */
export const present = async (
  { resource, version }: Price,
  signature: string,
  timeoutMs = 60_000,
): Promise<Delivery> => {
  const header = version === 1 ? 'x-payment' : 'payment-signature';
  const response = await fetch(resource, {
    headers: { [header]: signature },
    signal: AbortSignal.timeout(timeoutMs),
  });
  const receipt = response.headers.get(version === 1 ? 'x-payment-response' : 'payment-response');
  const required = response.headers.get('payment-required');
  const reason =
    (receipt === null ? undefined : fromBase64(receipt).errorReason) ??
    (required === null ? undefined : fromBase64(required).error) ??
    '';
  return { status: response.status, body: await response.text(), receipt, reason };
};

/** Passes the vendor's receipt on. */
export const reportExternal = (api: Api, token: string, settlementId: string, receipt: string) =>
  api<{ status: string; tx_hash: string | null } & Refused>(`POST /v1/payments/${settlementId}/report`, {
    token,
    body: { payment_response: receipt },
  });

/** The transaction that a receipt names. */
export const transactionOf = (receipt: string | null): string | null =>
  receipt === null ? null : fromBase64(receipt).transaction || null;

/** What a payment_signature holds. */
export const payloadOf = (
  signature: string,
): { payload: { transaction: string } } & Record<string, unknown> => fromBase64(signature);
