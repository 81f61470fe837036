import { CommanderError } from 'commander';
import { ApiError, NoAnswerError, PaymentUndecidedError, UnauthorizedError } from '../../../sdk/src/main.ts';
import {
  BadTokenError,
  NotDeliveredError,
  PaymentDeclinedError,
  PaymentOpenError,
} from '../../../sdk/src/pay/main.ts';
import { InterruptedError, NotSignedInError, RefusedError, UsageError } from '../errors.ts';

/** What the exit code of every command says. */
export const EXIT_CODES = {
  ok: [0, 'done'],
  error: [1, 'an error that no other code names; for `pay` also: the server answered 400 or above'],
  usage: [2, 'the command or its input is not valid; nothing was sent'],
  not_signed_in: [3, 'no valid sign-in or key, or one that is too old for this call'],
  refused: [4, 'the payment was refused; nothing was paid'],
  unknown: [5, 'the outcome of the payment is unknown; repeat the same command, which cannot pay twice'],
  not_delivered: [6, 'the payment was made, and the vendor has not delivered'],
  approval: [7, 'the owner must approve the payment first; then repeat the same command'],
  interrupted: [130, 'interrupted by Ctrl-C; `pay` says what holds'],
} as const satisfies Record<string, readonly [number, string]>;

type Name = keyof typeof EXIT_CODES;

const ofApiError = (error: ApiError): Name => {
  if (error.code === 'approval_required') return 'approval';
  if (error instanceof UnauthorizedError || error.code === 'reauthentication_required')
    return 'not_signed_in';
  if (error.moneyMoved === 'unknown') return 'unknown';
  return error.moneyMoved === 'no' ? 'refused' : 'error';
};

const nameOf = (error: unknown): Name => {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 'ok' : 'usage';
  if (error instanceof UsageError) return 'usage';
  if (error instanceof InterruptedError) return 'interrupted';
  if (error instanceof NotSignedInError) return 'not_signed_in';
  if (error instanceof PaymentUndecidedError || error instanceof PaymentOpenError) return 'unknown';
  if (error instanceof NotDeliveredError) return 'not_delivered';
  if (error instanceof PaymentDeclinedError || error instanceof BadTokenError) return 'refused';
  if (error instanceof RefusedError) return 'refused';
  if (error instanceof ApiError) return ofApiError(error);
  if (error instanceof NoAnswerError && error.moneyMoved === 'unknown') return 'unknown';
  return 'error';
};

/** The exit code of a command that threw this. */
export const exitCodeOf = (error: unknown): number => EXIT_CODES[nameOf(error)][0];
