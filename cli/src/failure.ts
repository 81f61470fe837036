import { plainUsdc } from '../../sdk/src/generated/usdc.ts';
import {
  ApiError,
  type MoneyMoved,
  NoAnswerError,
  PaidElsewhereError,
  PaymentUndecidedError,
} from '../../sdk/src/main.ts';
import {
  NotDeliveredError,
  PaymentOpenError,
  PriceAboveCapError,
  WindowTooLongError,
} from '../../sdk/src/pay/main.ts';
import { type NextStep, nextStepOf } from '../../sdk/src/programs/next-step.ts';
import { proxyVariable } from '../../sdk/src/programs/proxies.ts';
import { exitCodeOf } from './text/exit-codes.ts';

/** What a person or a program is told about an error: what is wrong, and what to do next. */

/** After an outcome that is unknown. */
export const AGAIN = 'Repeat the same command. It continues the same payment and cannot pay twice.';
const STEPS: Record<NextStep, string> = {
  correct: 'Change what the message names. The same command is refused again.',
  other_credential: 'Use the credential, or do it at the place, that the message names.',
  sign_in: 'Run `quittance login`, or check the key. A sign-in counts as recent for 5 minutes.',
  check_id: 'Check the id, the account and the environment (`quittance whoami`).',
  read_state: 'The message says what is in the way. Change that first.',
  read_settlement: 'The account has paid this already: see `quittance payments list`.',
  new_quote: 'Ask the vendor for a new quote.',
  new_payment: 'Ask the buyer for a new payment.',
  top_up: 'Put USDC into the wallet, in the console under Wallet.',
  raise_limit: 'Raise the limit of the key or the spending limit of the wallet, in the console.',
  await_approval:
    'The owner approves it in the console (`quittance approvals list`). Then repeat the same command.',
  ask_owner: 'The owner has decided. Talk to the owner before you buy it in another way.',
  repeat_later: 'Wait a moment, then repeat the same command.',
  repeat_or_support: 'Repeat the same command. If it fails again, write to support with the request id.',
};

/** The step after a refusal. Where an earlier call may have paid, the same ids are kept. */
const stepText = (error: ApiError): string => {
  const step = nextStepOf(error);
  const text = STEPS[step];
  const keepsIds = error.moneyMoved === 'unknown' && error.safeAction === 'retry_same_attempt';
  return !keepsIds || error.retryable
    ? text
    : `${text} Then repeat the same command, which continues the same payment.`;
};

/** What to try where the API was not reached. A proxy of the environment is a part of the way. */
const reachText = (error: NoAnswerError): string => {
  const proxy = proxyVariable(process.env);
  if (!error.wasSent && proxy !== null)
    return `Calls go through the proxy that ${proxy} names: check it, or name the host in NO_PROXY. Then repeat the command.`;
  return 'Check the address (--url, QUITTANCE_URL) and that the API runs, then repeat the command. Where a proxy leads out, set HTTPS_PROXY.';
};

const nextOf = (error: unknown): string | null => {
  if (error instanceof PriceAboveCapError) {
    return `To pay it, repeat the command with --max ${plainUsdc(error.quote.quote_amount)}.`;
  }
  if (error instanceof WindowTooLongError)
    return `To allow that, repeat the command with --max-window ${error.windowSeconds}.`;
  if (error instanceof PaidElsewhereError)
    return 'Read the payment with the key that made it, or with the owner’s sign-in. Do not pay again.';
  if (error instanceof PaymentUndecidedError || error instanceof PaymentOpenError) return AGAIN;
  if (error instanceof NotDeliveredError)
    return 'Repeat the same command, which presents the same payment. Otherwise name the settlement to the vendor.';
  if (error instanceof NoAnswerError) return error.moneyMoved === 'unknown' ? AGAIN : reachText(error);
  if (error instanceof ApiError) return stepText(error);
  return (error as { next?: string | null }).next ?? null;
};

/** Why fetch got no answer, by the code or the message of its cause. */
const NO_CONNECTION: Readonly<Record<string, string>> = {
  'bad port':
    'no program may call its port, which belongs to another protocol (a rule of fetch): use another port',
  ECONNREFUSED: 'nothing listens at its address and port (ECONNREFUSED)',
  ENOTFOUND: 'its name is unknown (ENOTFOUND)',
  EAI_AGAIN: 'its name cannot be resolved now (EAI_AGAIN)',
  ECONNRESET: 'it closed the connection (ECONNRESET)',
  CERT_HAS_EXPIRED: 'its certificate has expired (CERT_HAS_EXPIRED)',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it signs its certificate itself (DEPTH_ZERO_SELF_SIGNED_CERT)',
};

/** Why a file cannot be read or written, by the code of the error. */
const NO_FILE: Readonly<Record<string, string>> = {
  EEXIST: 'exists already; name another file, or remove it',
  ENOENT: 'does not exist, or its folder does not',
  EACCES: 'is not yours to read or write',
  EISDIR: 'is a folder',
  ENOTDIR: 'is in a path that is not a folder',
  EROFS: 'is in a place that cannot be written to',
  ENOSPC: 'cannot be written: there is no space left',
};

const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  const { cause, code, path } = error as NodeJS.ErrnoException & {
    cause?: { message?: string; code?: string };
  };
  if (path !== undefined && code !== undefined && code in NO_FILE) return `${path} ${NO_FILE[code]}`;
  // fetch reports the reason as the cause.
  if (!(error instanceof TypeError) || cause == null) return error.message;
  const known = NO_CONNECTION[cause.code ?? ''] ?? NO_CONNECTION[cause.message ?? ''];
  if (known !== undefined) return `the server was not reached: ${known}`;
  const reason = cause.message || cause.code;
  return reason === undefined ? error.message : `the server was not reached: ${reason}`;
};

const settlementOf = (error: unknown): string | null =>
  (error as { settlementId?: string | null }).settlementId ?? null;

/** Null: the error is of no call that pays, or says itself that nothing was paid. */
const moneyMovedBy = (error: unknown): MoneyMoved | null => {
  if (error instanceof ApiError || error instanceof NoAnswerError) return error.moneyMoved;
  if (error instanceof PaymentUndecidedError || error instanceof PaymentOpenError) return 'unknown';
  return error instanceof NotDeliveredError
    ? 'yes'
    : ((error as { moneyMoved?: MoneyMoved }).moneyMoved ?? null);
};

type Failure = {
  exit_code: number;
  code: string | null;
  message: string;
  details: readonly { path: string; message: string }[];
  money_moved: string | null;
  settlement_id: string | null;
  approval_id: string | null;
  request_id: string | null;
  /** The page about the code. */
  docs_url: string | null;
  next: string | null;
};

/** An error as the object that `--json` prints. */
export const failureOf = (error: unknown): Failure => {
  const said = error instanceof ApiError ? error : null;
  return {
    exit_code: exitCodeOf(error),
    code: said?.code ?? null,
    message: messageOf(error),
    details: said?.details ?? [],
    money_moved: moneyMovedBy(error),
    settlement_id: settlementOf(error),
    approval_id: said?.approvalId ?? null,
    request_id: said?.requestId ?? null,
    docs_url: said?.docsUrl ?? null,
    next: nextOf(error),
  };
};

/** An error as lines for a person. */
export const failureLines = (failure: Failure): string[] => [
  `Error: ${failure.message}`,
  // The message is one of them.
  ...failure.details
    .filter(({ message }) => !failure.message.includes(message))
    .map(({ path, message }) => `  ${path}: ${message}`),
  ...(failure.money_moved === null ? [] : [`Money moved: ${failure.money_moved}`]),
  ...(failure.settlement_id === null ? [] : [`Settlement: ${failure.settlement_id}`]),
  ...(failure.approval_id === null ? [] : [`Approval: ${failure.approval_id}`]),
  ...(failure.code === null
    ? []
    : [`Code: ${failure.code}${failure.request_id === null ? '' : `, request id: ${failure.request_id}`}`]),
  ...(failure.docs_url === null ? [] : [`About this error: ${failure.docs_url}`]),
  ...(failure.next === null ? [] : [`Next: ${failure.next}`]),
];
