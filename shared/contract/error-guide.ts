import {
  ERRORS,
  type ErrorBody,
  type ErrorCode,
  type ErrorReference,
  errorDocsUrl,
  type MoneyMoved,
  type SafeAction,
} from './errors.ts';
import { contractList } from './index.ts';
import { errorsOf } from './service.ts';

/** What the documentation says about an error code. Names in backticks are shown as code. */
type Guide = {
  causes: readonly string[];
  /** What to do, in the order in which to do it. */
  action: string;
  /**
   * The values of `money_moved` and `safe_action` in calls about money. A call that only reads has
   * neither.
   */
  money: readonly MoneyMoved[];
  actions: readonly SafeAction[];
  /** A message that the API gives. */
  example: Omit<ErrorBody, 'code'>;
};

const NO_MONEY = { money: [], actions: [] } as const;
/** A refusal before the record of the payment was read: an earlier call may have paid. */
const UNREAD = { money: ['no', 'unknown'], actions: ['retry_same_attempt', 'stop'] } as const;
const unread = { money_moved: 'unknown', safe_action: 'retry_same_attempt' } as const;
/** The settlement of the caller's own account, which every refusal of a payment may name. */
const PAID = ['no', 'yes', 'unknown'] as const;

export const ERROR_GUIDE: Record<ErrorCode, Guide> = {
  validation_error: {
    causes: [
      'A required field is missing, or a field has the wrong type or form.',
      'A field is unknown or misspelt. Unknown fields are refused and never dropped.',
      'An amount is a number, or is in USDC instead of micro-units: 0.05 USDC is `"50000"`.',
      'The body is not a JSON object in UTF-8, or a field name is in it twice.',
      'A token, a cursor or an object is of another environment, account or endpoint.',
    ],
    action:
      'Correct the request. `message` names one cause, `details` the field path and the message of each. Send the same ids again, because nothing was recorded under them.',
    money: PAID,
    actions: ['retry_same_attempt', 'read_settlement', 'stop'],
    example: {
      message: 'amont: unknown field; did you mean `amount`? Allowed: settlement_id, amount, reason',
      details: [
        {
          path: 'amont',
          message: 'unknown field; did you mean `amount`? Allowed: settlement_id, amount, reason',
        },
      ],
    },
  },
  unauthorized: {
    causes: [
      'The header `Authorization: Bearer <credential>` is missing or has another scheme.',
      'The key is mistyped, unknown, revoked or of an environment that the server does not serve.',
      'The access token has expired after 15 minutes, is not signed by this service, or its sign-in has ended.',
      'The token of a sign-in link, a reveal link or a refresh was used already or is too old.',
    ],
    action:
      'Read `message`, which names the cause. Correct the header, use the current key, or refresh the access token with `POST /v1/auth/refresh`. Then send the same call again.',
    ...UNREAD,
    example: {
      message: 'the header Authorization is missing; send the header Authorization: Bearer <credential>',
    },
  },
  payment_required: {
    causes: [
      'A vendor asks for a payment: the body has its `quote_token`. This API itself never answers it.',
    ],
    action:
      'Pay the quote with `POST /v1/settle`, and repeat the request to the vendor with the settlement token.',
    ...NO_MONEY,
    example: { message: 'payment is needed first' },
  },
  insufficient_funds: {
    causes: [
      'The wallet holds less USDC than the payment, less what other payments hold.',
      'The payment failed on chain, because its balance was spent elsewhere.',
    ],
    action:
      'Add USDC to the wallet. Then settle the same quote with the same `payment_attempt_id` while the quote is valid.',
    money: ['no'],
    actions: ['top_up', 'stop'],
    example: {
      message: 'the wallet balance, less what other payments hold, is too small',
      money_moved: 'no',
      safe_action: 'top_up',
    },
  },
  forbidden: {
    causes: [
      'The credential is of another kind than the call needs: a service key sells, a delegate key or a sign-in pays.',
      'The call exists in another environment only, for instance `POST /v1/dev/fund` in test.',
      'The delegate may not pay this service.',
      'The key may not be used from this address: its service has `allowed_ips`.',
      'The sign-in is that of a device, for instance of the command line, and a person has to do it in the console.',
      'The account is frozen.',
    ],
    action:
      'Use the kind of credential or the address that `message` names. Contact support if the account is frozen.',
    ...UNREAD,
    example: {
      message:
        'this call requires a service key, and a delegate key was sent; the console shows a service key (vendor_…) under Services',
    },
  },
  limit_exceeded: {
    causes: [
      'The payment exceeds a limit of the delegate: per payment, of the day, of the month or in total.',
      'The payment with an access token exceeds a limit of the account: `account_per_payment` or `account_daily`.',
    ],
    action:
      'Ask the owner to raise the limit that `message` names, or wait until it resets. A sign-in of the last 5 minutes may exceed a limit of the account. Then settle again with the same `payment_attempt_id`.',
    money: ['no'],
    actions: ['raise_limit', 'stop'],
    example: {
      message: 'daily: the limit of the day would be exceeded',
      money_moved: 'no',
      safe_action: 'raise_limit',
    },
  },
  approval_required: {
    causes: ['The payment is above the amount from which the delegate needs its owner’s approval.'],
    action:
      'Show `approval_id` to the owner. After the approval, repeat the call with the same `payment_attempt_id`.',
    money: ['no'],
    actions: ['await_approval'],
    example: {
      message: 'the owner must approve this payment first',
      money_moved: 'no',
      safe_action: 'await_approval',
      approval_id: 'apr_01kaj5w0c0e8h9x2m4n6p8q0rs',
    },
  },
  approval_denied: {
    causes: ['The owner has denied this payment.'],
    action: 'Do not repeat it. Talk to the owner.',
    money: ['no'],
    actions: ['stop'],
    example: {
      message: 'the owner has denied this payment; do not repeat it',
      money_moved: 'no',
      safe_action: 'stop',
    },
  },
  approval_expired: {
    causes: ['The owner did not approve the payment before its quote expired.'],
    action: 'Get a new quote from the vendor and pay it, if the owner still wants the payment.',
    money: ['no'],
    actions: ['new_quote'],
    example: {
      message: 'the owner did not approve in time; get a new quote',
      money_moved: 'no',
      safe_action: 'new_quote',
    },
  },
  reauthentication_required: {
    causes: [
      'The call needs a sign-in of the last 5 minutes. A refresh does not renew the time of a sign-in.',
    ],
    action: 'Sign in again, and repeat the call with the new access token.',
    money: ['no', 'unknown'],
    actions: ['retry_same_attempt'],
    example: { message: 'this call needs a sign-in of the last 5 minutes; sign in again' },
  },
  not_found: {
    causes: [
      'There is no such object, or it belongs to another account or environment. Ids of others cannot be probed.',
      'The path is not part of the API.',
    ],
    action:
      'Check the id, the path, and that the credential is of the account and the environment of the object.',
    ...UNREAD,
    example: { message: 'no such quote' },
  },
  method_not_allowed: {
    causes: ['The path exists with other methods.'],
    action: 'Use a method of the header `Allow`.',
    ...NO_MONEY,
    example: { message: 'the path has no method GET; use POST' },
  },
  conflict: {
    causes: [
      'The object is in another state, for instance a settlement that is not confirmed yet, or a closing service.',
      'The `payment_attempt_id` belongs to another quote or to another delegate.',
      'The object exists already, or was changed at the same time.',
    ],
    action: 'Read the object, and decide by its state. `message` says what is in the way.',
    money: PAID,
    actions: ['read_settlement', 'retry_same_attempt', 'stop'],
    example: {
      message: 'this payment_attempt_id was used with another quote',
      money_moved: 'yes',
      safe_action: 'read_settlement',
      settlement_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs',
    },
  },
  delegation_inactive: {
    causes: [
      'The wallet has not allowed the platform to spend, has revoked it, or the spending limit is used up.',
      'The account has no wallet to pay from.',
    ],
    action:
      'Let the owner allow spending: `POST /v1/wallets/:wallet_id/onboarding`, then `/delegate`. Then settle again with the same `payment_attempt_id`.',
    money: ['no'],
    actions: ['raise_limit', 'stop'],
    example: {
      message: 'the wallet allows no spending, or less than this payment',
      money_moved: 'no',
      safe_action: 'raise_limit',
    },
  },
  quote_already_settled: {
    causes: [
      'This account has paid the quote, or is paying it: `settlement_id` names the settlement.',
      'Another buyer has paid the quote. Each quote is paid once.',
    ],
    action:
      'With `settlement_id`: read that settlement and show its token to the vendor. Without it: get a new quote.',
    money: PAID,
    actions: ['read_settlement', 'new_quote'],
    example: {
      message: 'this account has paid the quote, or is paying it, by another attempt',
      money_moved: 'yes',
      safe_action: 'read_settlement',
      settlement_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs',
    },
  },
  idempotency_mismatch: {
    causes: ['The `Idempotency-Key` was used within 24 hours for the same operation with another body.'],
    action: 'Use a new key for a new object. To repeat a call, send exactly the body of the first one.',
    money: ['no'],
    actions: ['stop'],
    example: { message: 'the idempotency key was used for another request; use a new key' },
  },
  settlement_exhausted: {
    causes: ['The settlement has fewer units left than the call consumes. Nothing was taken.'],
    action: 'Ask the buyer for a new payment.',
    ...NO_MONEY,
    example: { message: 'fewer units remain than the call requests' },
  },
  usage_exceeds_authorization: {
    causes: [
      'The use of the call and what was reported before exceed the ceiling that the payer authorized. Nothing of the call was recorded.',
    ],
    action:
      'Report at most what `message` names as left, or capture and ask the buyer for the next authorization.',
    ...NO_MONEY,
    example: { message: 'used 480000 of 500000, so 20000 are left; this call reports 25000' },
  },
  authorization_closed: {
    causes: [
      'The authorization is being captured, is captured or voided, or its window has ended.',
      'The payer’s wallet no longer covers what is held (`at_risk_at`). What was used is being captured.',
    ],
    action:
      'Stop delivering on it, and ask the buyer for the next authorization. Use that was answered with 200 is not lost by this.',
    ...NO_MONEY,
    example: { message: 'the authorization is captured; ask the buyer for another one' },
  },
  capture_below_fee: {
    causes: ['The amount to capture is not larger than its fee, so nothing would be left for the vendor.'],
    action:
      'Report more use before the window ends, or void the authorization. `message` names the least amount.',
    ...NO_MONEY,
    example: { message: 'the fee of 8000 is 10000; the least amount that can be captured is 10001' },
  },
  payment_failed: {
    causes: ['The payment failed on chain, finally and proven. Its attempt keeps this answer for ever.'],
    action:
      'Settle the quote with a new `payment_attempt_id` while it is valid, otherwise get a new quote. A buyer of x402 or MPP signs a new transaction.',
    money: ['no'],
    actions: ['new_quote', 'stop'],
    example: { message: 'the payment failed', money_moved: 'no', safe_action: 'new_quote' },
  },
  quote_expired: {
    causes: ['The quote was not paid before `expires_at`.'],
    action: 'Get a new quote from the vendor.',
    money: ['no'],
    actions: ['new_quote'],
    example: { message: 'the quote has expired', money_moved: 'no', safe_action: 'new_quote' },
  },
  settlement_expired: {
    causes: ['The settlement was not redeemed before `redeem_expires_at`. The money stays with the vendor.'],
    action:
      'Refund the payment, or deliver by agreement with the buyer. A longer `redeem_window_seconds` avoids it.',
    money: ['yes'],
    actions: ['stop'],
    example: { message: 'the redeem window has elapsed' },
  },
  payload_too_large: {
    causes: ['The body is larger than 64 KiB.'],
    action: 'Send a smaller body. A scope has at most 4096 bytes.',
    ...UNREAD,
    example: { message: ERRORS.payload_too_large.meaning },
  },
  unsupported_media_type: {
    causes: [
      'The header `Content-Type` is missing, or is not `application/json`.',
      'The body is compressed (`Content-Encoding`).',
    ],
    action: 'Send JSON with `Content-Type: application/json`, uncompressed.',
    ...UNREAD,
    example: { message: ERRORS.unsupported_media_type.meaning },
  },
  rate_limited: {
    causes: [
      'The account, the address or the field value has used up its calls. Refused calls count too.',
      'Too many refused credentials came from the address.',
      'The account has used up the transactions that the platform co-signs in a day.',
    ],
    action:
      'Wait for `Retry-After` seconds, and send the same call with the same ids. `RateLimit` shows what is left.',
    money: ['unknown'],
    actions: ['retry_same_attempt'],
    example: { message: 'too many requests; see the Retry-After header', ...unread },
  },
  internal_error: {
    causes: ['A fault of ours. It is logged and raises an alarm.'],
    action: 'Send the same call with the same ids. If it repeats, give `request_id` to support.',
    money: ['unknown'],
    actions: ['retry_same_attempt'],
    example: { message: ERRORS.internal_error.meaning, ...unread },
  },
  service_unavailable: {
    causes: [
      'A part of the service restarts, or the chain cannot be read.',
      'Operators have paused new payments, or a cap of the hour or the fee budget of the day is used up.',
    ],
    action:
      'Wait for `Retry-After` seconds, and send the same call with the same ids. It never charges twice.',
    money: ['no', 'unknown'],
    actions: ['retry_same_attempt', 'stop'],
    example: {
      message: 'temporarily unavailable; repeat the call with the same ids, which is safe',
      ...unread,
    },
  },
};

/** Calls that every operation shares are not listed by name. */
const isEverywhere = (calls: readonly string[], total: number): boolean => calls.length > total / 2;

const callsWith = (code: ErrorCode): string[] | 'most' => {
  const all = contractList.flatMap(({ operations }) => Object.values(operations));
  const calls = all
    .filter((op) => errorsOf(op).includes(code))
    .map(({ http }) => `${http.method} ${http.path}`);
  return isEverywhere(calls, all.length) ? 'most' : calls;
};

/** The documentation of one code. */
export type ErrorPage = {
  code: ErrorCode;
  http: number;
  meaning: string;
  retryable: boolean;
  /** The calls that answer it, or `most`. */
  calls: string[] | 'most';
  example: { error: ErrorBody & ErrorReference };
} & Omit<Guide, 'example'>;

/** The documentation of every code, by HTTP status. @param serverUrl the base URL of the API */
export const errorPages = ({ serverUrl }: { serverUrl: string }): ErrorPage[] =>
  (Object.keys(ERRORS) as ErrorCode[])
    .toSorted((a, b) => ERRORS[a].http - ERRORS[b].http)
    .map((code) => {
      const { example, ...guide } = ERROR_GUIDE[code];
      const reference = {
        request_id: '5b0f0a52-6a53-4b8e-9d2c-6e0c0c1f4f11',
        docs_url: errorDocsUrl(serverUrl, code),
      };
      const { http, meaning, retryable } = ERRORS[code];
      return {
        code,
        http,
        meaning,
        retryable,
        ...guide,
        calls: callsWith(code),
        example: { error: { code, ...example, ...reference } },
      };
    });
