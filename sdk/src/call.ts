import type { CredentialSource } from './credential.ts';
import { ApiError, NoAnswerError } from './errors.ts';
import { ConflictError, UnauthorizedError } from './generated/errors.ts';
import type { Fields, Received, Send } from './transport.ts';
import type { CallOptions, OperationInfo } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

export type Call = (info: OperationInfo, input: Fields, options: CallOptions) => Promise<Received>;

/** Whoever is told to wait longer hears it instead: a limit's window is a minute. */
const LONGEST_WAIT_MS = 60_000;

/**
 * Calls with the client's credential, exchanged for a fresh one where the API refuses it: it did
 * nothing then.
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

/** True where nothing happens twice however often the call arrives. */
const isRepeatable = ({ method, repeatable, keyed }: OperationInfo, input: Fields): boolean =>
  method === 'GET' ||
  keyed === true ||
  (typeof repeatable === 'string' ? input[repeatable] !== undefined : repeatable === true);

/** True for a failure that the same call can overcome. */
export const canRepeat = (error: unknown): error is ApiError | NoAnswerError =>
  error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);

/**
 * Longer than the API leaves a call to a process that died with it: only then can a repeat finish
 * it.
 */
const UNDER_WAY_MS = 45_000;

/**
 * An earlier sending of the same call, whose answer was lost, is still under way: this is the one
 * conflict that passes.
 */
const isUnderWay = (error: unknown): error is ApiError =>
  error instanceof ConflictError && error.retryAfterMs !== null;

/** A key of its own for a call that creates, the same for each time it is sent. */
const keyed = ({ keyed: takesKey }: OperationInfo, options: CallOptions): CallOptions =>
  takesKey === true ? { ...options, idempotencyKey: options.idempotencyKey ?? crypto.randomUUID() } : options;

/** Repeats what may be repeated, when the API asks for it or says nothing at all. */
export const createRetrying =
  (call: Call, maxRetries: number): Call =>
  async (info, input, given) => {
    const options = keyed(info, given);
    let underWayUntil: number | undefined;
    for (let tries = 0; ; tries += 1) {
      try {
        return await call(info, input, options);
      } catch (error) {
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
