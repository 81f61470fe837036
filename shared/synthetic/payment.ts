import { setTimeout as sleep } from 'node:timers/promises';
import type { SYNTHETIC_OUTCOMES } from '../lib/telemetry/metrics-catalog.ts';

/**
 * A real small payment through the public API: quote, settle, redeem. It is what a customer does,
 * so a failure of any part of the system is noticed without customers.
 */
type SyntheticAccounts = {
  /** The origin of the gateway. */
  gatewayUrl: string;
  serviceId: string;
  /** A vendor's key of the service. */
  serviceKey: string;
  /** A delegate key with a small daily limit. */
  delegateKey: string;
};

/** The step that did not succeed; `paid`: every step did. */
type SyntheticOutcome = (typeof SYNTHETIC_OUTCOMES)[number];

type SyntheticPayment = {
  outcome: SyntheticOutcome;
  seconds: number;
  quote_id?: string;
  settlement_id?: string;
  /** Of the call that failed: its request id, status and error code. */
  request_id?: string;
  status?: number;
  code?: string;
};

/** A call waits for 20 s at most at the gateway. */
const CALL_TIMEOUT_MS = 30_000;
const REPEAT_AFTER_MS = 1000;

type Answer = { status: number; requestId: string; body: Record<string, unknown> };

const callApi = async (
  { gatewayUrl }: SyntheticAccounts,
  path: string,
  key: string,
  body: object,
): Promise<Answer> => {
  const requestId = crypto.randomUUID();
  try {
    const response = await fetch(new URL(path, gatewayUrl), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'x-request-id': requestId,
      },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
    return { status: response.status, requestId, body: (await response.json()) as Record<string, unknown> };
  } catch {
    // No answer, or one that is not JSON. The call may have had an effect, so only a repeat is
    // safe.
    return { status: 0, requestId, body: {} };
  }
};

/** Whether the same call may succeed later: 202, no answer, a limit, or a fault of the server. */
const isOpen = ({ status }: Answer): boolean =>
  status === 202 || status === 0 || status === 429 || status >= 500;

/**
 * Repeats a call with the same ids, which is safe, until it has an outcome or the time is over.
 */
const repeat = async (call: () => Promise<Answer>, until: number): Promise<Answer> => {
  for (;;) {
    const answer = await call();
    if (!isOpen(answer) || performance.now() + REPEAT_AFTER_MS >= until) return answer;
    await sleep(REPEAT_AFTER_MS);
  }
};

const failureOf = ({ status, requestId, body }: Answer) => {
  const { code } = (body.error ?? {}) as { code?: unknown };
  return { request_id: requestId, status, ...(typeof code === 'string' ? { code } : {}) };
};

/**
 * Makes one payment. Never throws: a failure is the result.
 * @param withinSeconds how long a step is repeated while its outcome is open
 */
export const makeSyntheticPayment = async (
  accounts: SyntheticAccounts,
  { withinSeconds }: { withinSeconds: number },
): Promise<SyntheticPayment> => {
  const startedAt = performance.now();
  const until = startedAt + withinSeconds * 1000;
  const end = (outcome: SyntheticOutcome, rest: Partial<SyntheticPayment>): SyntheticPayment => ({
    outcome,
    seconds: Math.round(performance.now() - startedAt) / 1000,
    ...rest,
  });

  const { serviceId, serviceKey, delegateKey } = accounts;
  const quote = await repeat(
    () => callApi(accounts, '/v1/quote', serviceKey, { service_id: serviceId }),
    until,
  );
  const { quote_id, quote_token } = quote.body as { quote_id: string; quote_token: string };
  if (quote.status !== 201) return end('quote_failed', failureOf(quote));

  const attempt = { quote_token, payment_attempt_id: `synthetic-${quote_id}` };
  const settle = await repeat(() => callApi(accounts, '/v1/settle', delegateKey, attempt), until);
  const { settlement_id, settlement_token } = settle.body as {
    settlement_id: string;
    settlement_token: string;
  };
  if (settle.status !== 200) return end('settle_failed', { quote_id, ...failureOf(settle) });

  const path = `/v1/settlements/${settlement_id}/redeem`;
  const redeem = await repeat(
    () => callApi(accounts, path, serviceKey, { settlement_token, redeem_id: attempt.payment_attempt_id }),
    until,
  );
  const ids = { quote_id, settlement_id };
  return redeem.status === 200 ? end('paid', ids) : end('redeem_failed', { ...ids, ...failureOf(redeem) });
};
