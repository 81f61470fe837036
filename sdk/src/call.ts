import type { CredentialSource } from './credential.ts';
import { ApiError, NoAnswerError } from './errors.ts';
import { UnauthorizedError } from './generated/errors.ts';
import type { Fields, Received, Send } from './transport.ts';
import type { CallOptions, OperationInfo } from './types.ts';
import { backoffMs, sleep } from './wait.ts';

export type Call = (info: OperationInfo, input: Fields, options: CallOptions) => Promise<Received>;

/** Whoever is told to wait longer hears it instead: a limit's window is a minute. */
const LONGEST_WAIT_MS = 60_000;

/** Calls with the client's credential, exchanged for a fresh one where the API refuses it: it did nothing then. */
export const createAuthorized =
  (send: Send, credential: CredentialSource): Call =>
  async (info, input, { signal }) => {
    if (info.anonymous === true) return send(info, input, { token: null, signal });
    const token = await credential.token();
    try {
      return await send(info, input, { token, signal });
    } catch (error) {
      if (!(error instanceof UnauthorizedError)) throw error;
      const fresh = await credential.renew(token);
      if (fresh === null) throw error;
      return send(info, input, { token: fresh, signal });
    }
  };

/** True where nothing happens twice however often the call arrives. */
const isRepeatable = ({ method, repeatable }: OperationInfo, input: Fields): boolean =>
  method === 'GET' ||
  (typeof repeatable === 'string' ? input[repeatable] !== undefined : repeatable === true);

/** True for a failure that the same call can overcome. */
export const canRepeat = (error: unknown): error is ApiError | NoAnswerError =>
  error instanceof NoAnswerError || (error instanceof ApiError && error.retryable);

/** Repeats what may be repeated, when the API asks for it or says nothing at all. */
export const createRetrying =
  (call: Call, maxRetries: number): Call =>
  async (info, input, options) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await call(info, input, options);
      } catch (error) {
        if (!canRepeat(error) || !isRepeatable(info, input) || tries >= maxRetries) throw error;
        const waitMs = error.retryAfterMs ?? backoffMs(tries);
        if (waitMs > LONGEST_WAIT_MS) throw error;
        await sleep(waitMs, options.signal);
      }
    }
  };
