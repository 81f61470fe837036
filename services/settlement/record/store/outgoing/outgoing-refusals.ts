import { ServiceError } from '../../../../../shared/contract/errors.ts';
import { sql } from '../../../../../shared/db/pool.ts';
import { LAST, OF_CAPS, OF_DELEGATE, OF_WALLET, type Refusal } from '../refusals.ts';

/** The open payments that a delegate, or an account without one, may have at a time. */
export const MAX_OPEN = 5;
/** The open payments that an account may have to one address. */
export const MAX_OPEN_OF_PAYEE = 2;
/** After this many payments in a row that an address let expire, it is paused. */
export const MAX_UNSETTLED = 3;

const forbidden = (message: string) => (): ServiceError => new ServiceError('forbidden', message);
const limitExceeded = (message: string, retryAfterSeconds: number): ServiceError =>
  new ServiceError('limit_exceeded', message, { safe_action: 'retry_same_attempt', retryAfterSeconds });

/** An open payment is used within seconds, or expires within about two minutes. */
const OPEN_RETRY_SECONDS = 15;
const tooManyOpen = (message: string) => (): ServiceError =>
  limitExceeded(`${message}; repeat with the same payment_attempt_id`, OPEN_RETRY_SECONDS);

/** Of a payment to another vendor, in rank order. None of its own is a decline: it has no quote. */
export const OUTGOING_REFUSALS = {
  ...OF_DELEGATE,
  external_off: {
    when: sql.fragment`not delegate.external`,
    error: forbidden(
      'this delegate may pay vendors of Quittance only; its owner can allow other vendors (external)',
    ),
  },
  services_restricted: {
    when: sql.fragment`delegate.allowed_service_ids is not null`,
    error: forbidden(
      'this delegate may pay the services of allowed_service_ids only, so it pays no other vendors',
    ),
  },
  payee_not_allowed: {
    when: sql.fragment`not candidate.addresses <@ delegate.external_pay_to`,
    error: forbidden('this delegate may not pay this address; its owner can add it (external.pay_to)'),
  },
  origin_not_allowed: {
    when: sql.fragment`not candidate.origin = any(delegate.external_origins)`,
    error: forbidden('this delegate may not pay for this origin; its owner can add it (external.origins)'),
  },
  ...OF_CAPS,
  too_many_open: {
    when: sql.fragment`open.of_delegate >= ${MAX_OPEN}`,
    error: tooManyOpen(`${MAX_OPEN} payments of this delegate to other vendors are open, which is the limit`),
  },
  too_many_open_of_payee: {
    when: sql.fragment`open.of_payee >= ${MAX_OPEN_OF_PAYEE}`,
    error: tooManyOpen(
      `${MAX_OPEN_OF_PAYEE} payments of this account to this address are open, which is the limit`,
    ),
  },
  payee_paused: {
    when: sql.fragment`unsettled.seconds > 0`,
    error: ({ paused_seconds }) =>
      limitExceeded(
        'this address has not used the last payments that it was given; repeat with the same payment_attempt_id later',
        Math.ceil(paused_seconds ?? 0),
      ),
  },
  ...OF_WALLET,
  ...LAST,
} satisfies Record<string, Refusal>;
