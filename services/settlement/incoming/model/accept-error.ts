import {
  conflict,
  type ErrorCode,
  invalid,
  type MoneyMoved,
  type SafeAction,
  ServiceError,
} from '../../../../shared/contract/errors.ts';
import type { Refusal } from './refusal.ts';

/** Codes of refusals that are not about the bytes. */
const CODES: Partial<Record<Refusal['reason'], ErrorCode>> = {
  simulation_failed: 'payment_failed',
  blockhash_expired: 'payment_failed',
  closed: 'payment_failed',
  payee_not_ready: 'service_unavailable',
  budget_exhausted: 'service_unavailable',
  signing_paused: 'service_unavailable',
  facilitator_credit_exhausted: 'conflict',
  other_service: 'conflict',
  source_blocked: 'conflict',
  vendor_frozen: 'forbidden',
  service_closing: 'conflict',
  payment_identifier_conflict: 'conflict',
  quote_settled: 'quote_already_settled',
  quote_expired: 'quote_expired',
  too_many_open: 'conflict',
};

/** The account of a payee is created within seconds. */
const NOT_READY_SECONDS = 3;

/**
 * What is safe after a refusal, where the gateway's default for the code is not right. These bytes
 * can never pay any more, so their buyer signs others for a new offer, but only if they have not
 * paid.
 */
const safeActionAfter = (code: ErrorCode, moved: MoneyMoved): SafeAction | undefined =>
  code === 'payment_failed' && moved === 'no' ? 'new_quote' : undefined;

/** The error of POST /v1/settlements/foreign for a refusal. */
export const acceptErrorOf = ({ reason, message }: Refusal, money_moved: MoneyMoved): ServiceError => {
  if (reason === 'insufficient_funds')
    return new ServiceError('insufficient_funds', message, { money_moved, safe_action: 'top_up' });
  const code = CODES[reason];
  if (reason === 'other_service')
    return conflict(`${reason}: ${message}`, { money_moved, safe_action: 'stop' });
  // The details name the reason, so that a client can tell the refusals apart.
  if (code === undefined) return invalid('transaction', `${reason}: ${message}`, { money_moved });
  const safe_action = safeActionAfter(code, money_moved);
  return new ServiceError(code, `${reason}: ${message}`, {
    money_moved,
    ...(safe_action !== undefined && { safe_action }),
    ...(reason === 'payee_not_ready' && { retryAfterSeconds: NOT_READY_SECONDS }),
  });
};

/** What a wallet shows to its owner, who knows nothing of vendors and transactions. */
const FOR_PAYERS: Partial<Record<Refusal['reason'], string>> = {
  payee_not_ready: 'This payment is being prepared. Scan the code again in some seconds.',
  simulation_failed: 'Your wallet cannot make this payment. Check that it has enough USDC, and scan again.',
  insufficient_funds: 'Your wallet has not enough USDC for this payment.',
  blockhash_expired: 'This took too long. Scan the code again.',
  quote_expired: 'This took too long. Scan the code again.',
  quote_settled: 'This was paid already.',
  closed: 'This took too long. Scan the code again.',
  budget_exhausted: 'No payments are accepted at the moment. Scan the code again later.',
  signing_paused: 'No payments are accepted at the moment. Scan the code again later.',
  vendor_frozen: 'This vendor accepts no payments. Ask the vendor.',
  service_closing: 'This vendor accepts no payments. Ask the vendor.',
  source_blocked: 'Your wallet cannot make this payment. Use another one.',
};

/** The same for a person who has scanned a code. Wallets show the message. */
export const payerErrorOf = (refusal: Refusal): ServiceError => {
  const { code, message, extras } = acceptErrorOf(refusal, 'no');
  return new ServiceError(code, FOR_PAYERS[refusal.reason] ?? message, extras);
};
