import type { CredentialSource } from './credential.ts';
import { ApiError, NoAnswerError } from './errors.ts';
import { ConflictError, UnauthorizedError } from './generated/errors.ts';
import type { Fields, Received, Send } from './transport.ts';
import type { CallOptions, OperationInfo } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

export type Call = (info: OperationInfo, input: Fields, options: CallOptions) => Promise<Received>;

/** A longer wait is reported as an error instead, because a limit's window is a minute. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Calls with the client's credential. If the API refuses it, the call is sent again with a renewed
 * one, because a refused call did nothing.
 */
export const createAuthorized =
  (send: Send, credential: CredentialSource): Call =>
  async (info, input, { signal, idempotencyKey }) => {
    if (info.anonymous === true) return send(info, input, { token: null, signal });
    const token = await credential.token();
    try {
      return await send(info, input, { token, signal, idempotencyKey });
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      const fresh = await credential.renew(token);
      if (fresh === null) throw error;
      return send(info, input, { token: fresh, signal, idempotencyKey });
    }
  };

/** True if repeating the call has no further effect. */
const isRepeatable = ({ method, repeatable, keyed }: OperationInfo, input: Fields): boolean =>
  method === 'GET' ||
  keyed === true ||
  (typeof repeatable === 'string' ? input[repeatable] !== undefined : repeatable === true);

/** True for an error after which the same call may succeed. */
export const canRepeat = (error: unknown): error is ApiError | NoAnswerError =>
  error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);

/**
 * Longer than the API's lease of a call whose process died. Only after that can a repeat complete
 * it.
 */
const UNDER_WAY_MS = 45_000;

/**
 * True if an earlier copy of the same call is still in progress. Only this conflict is temporary.
 */
const isUnderWay = (error: unknown): error is ApiError =>
  error instanceof ConflictError && error.retryAfterMs !== null;

/** Adds an idempotency key to a call that creates. All retries of the call share it. */
const keyed = ({ keyed: takesKey }: OperationInfo, options: CallOptions): CallOptions =>
  takesKey === true ? { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() } : options;

/** Retries repeatable calls if the API requests it or does not answer. */
export const createRetrying =
  (call: Call, maxRetries: number): Call =>
  async (info, input, given) => {
    const options = keyed(info, given);
    let underWayUntil: number | undefined;
    let wasSent = false;
    for (let tries = 0; ; tries += 1) {
      try {
        return await call(info, input, options);
      } catch (error) {
        wasSent ||= !(error instanceof NoAnswerError) || error.wasSent;
        if (error instanceof NoAnswerError) error.wasSent = wasSent;
        if (info.keyed === true && isUnderWay(error)) {
          underWayUntil ??= performance.now() + UNDER_WAY_MS;
          if (performance.now() > underWayUntil) throw error;
          await sleep(error.retryAfterMs ?? 0, options.signal);
          tries -= 1;
          continue;
        }
        if (!canRepeat(error) || !isRepeatable(info, input) || tries >= maxRetries) throw error;
        const waitMs = error.retryAfterMs ?? backoffMs(tries);
        if (waitMs > LONGEST_WAIT_MS) throw error;
        await sleep(waitMs, options.signal);
      }
    }
  };
