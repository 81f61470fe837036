import { setTimeout as sleep } from 'node:timers/promises';
import { call as callOnBus, forward as forwardOnBus } from '../../../shared/bus/call.ts';
import type { NotedIds } from '../../../shared/bus/envelope.ts';
import { REQUEST_ID } from '../../../shared/bus/trace.ts';
import type { Client } from '../../../shared/contract/client.ts';
import { ERRORS, ServiceError } from '../../../shared/contract/errors.ts';
import { settlement } from '../../../shared/contract/index.ts';
import type { HttpOperation, ServiceContract } from '../../../shared/contract/service.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Authenticated } from '../credentials/authenticate.ts';

/** A successful answer; `body` is null for 204. */
type Answer = { status: number; body: unknown; headers: Record<string, string> };

/**
 * Status and headers of a result, as the contract defines them (settle answers 202 for a pending
 * payment).
 */
export const answerOf = ({ http }: Pick<HttpOperation, 'http'>, result: unknown): Answer => {
  const { alternative, status } = http;
  if (alternative !== undefined) {
    const value = (result as Record<string, unknown> | null)?.[alternative.field];
    if (value === alternative.equals) {
      const headers = { 'retry-after': String(alternative.retryAfterSeconds) };
      return { status: alternative.status, body: result, headers };
    }
  }
  return { status, body: status === 204 ? null : result, headers: {} };
};

type Call = {
  requestId: string;
  client?: Client;
  idempotencyKey: string | undefined;
  onReplay: () => void;
  onNoted: (ids: NotedIds) => void;
  /**
   * The caller as it is now. Throws when its credential has ended or cannot be read.
   */
  checkAgain: () => Promise<Authenticated>;
};

const forwardOnce = (
  contract: ServiceContract,
  name: string,
  input: unknown,
  { environment, principal }: Authenticated,
  call: Call,
): Promise<unknown> =>
  forwardOnBus(environment.bus(), contract, name, input, principal, {
    timeoutMs: contract.operations[name]!.timeoutSeconds * 1000,
    headers: { [REQUEST_ID]: call.requestId },
    client: call.client,
    idempotencyKey: call.idempotencyKey,
    onReplay: call.onReplay,
    onNoted: call.onNoted,
  });

/** A service that restarts answers again within seconds. */
const REPEAT_MS = 250;
/** No other call gets the success for 7 s. A later confirmation counts unless one got it. */
const HAND_OUT_CONFIRM_MS = 60_000;
const HAND_OUT_TIMEOUT_MS = 1000;

const isUnknown = (error: unknown): boolean =>
  error instanceof ServiceError && ERRORS[error.code].http >= 500 && error.extras.money_moved === 'unknown';

/**
 * The caller of a repeat. Its account may have been frozen, and its key revoked, since the call
 * began. While identity does not answer it is asked again.
 * @returns null: the call must not be repeated
 */
const callerNow = async (
  { checkAgain }: Pick<Call, 'checkAgain'>,
  isLast: () => boolean,
): Promise<Authenticated | null> => {
  for (;;) {
    try {
      return await checkAgain();
    } catch (error) {
      const isRefused = error instanceof ServiceError && ERRORS[error.code].http < 500;
      if (isRefused || isLast()) return null;
      await sleep(REPEAT_MS);
    }
  }
};

/**
 * Sends a validated call to its service and waits for the answer. Throws the errors of the service.
 * A call that `repeatsWhile` names is repeated while its outcome is open, with the caller as it is
 * then. A caller that may not repeat it any more gets the open outcome.
 */
export const forward = async (
  contract: ServiceContract,
  name: string,
  input: unknown,
  caller: Authenticated,
  call: Call,
): Promise<unknown> => {
  const { repeatsWhile } = contract.operations[name]!;
  if (repeatsWhile === undefined) return forwardOnce(contract, name, input, caller, call);
  const { field, equals, seconds } = repeatsWhile;
  const until = performance.now() + seconds * 1000;
  const isLast = () => performance.now() + REPEAT_MS >= until;
  for (let now = caller; ; ) {
    let open: () => unknown;
    try {
      const answer = (await forwardOnce(contract, name, input, now, call)) as Record<string, unknown>;
      if (answer[field] !== equals || isLast()) return answer;
      open = () => answer;
    } catch (error) {
      if (!isUnknown(error) || isLast()) throw error;
      open = () => {
        throw error;
      };
      await sleep(REPEAT_MS);
    }
    const again = await callerNow(call, isLast);
    if (again === null) return open();
    now = again;
  }
};

type HandOut = { extra?: { quittance?: { settlement_id: string; hand_out_id?: string } } };

/**
 * Confirms to the settlement service that the success of an x402 payment was sent, and repeats that
 * while the service is unavailable (docs/adr/0043).
 */
export const confirmHandOut = async (answer: unknown, { environment }: Authenticated): Promise<void> => {
  const { settlement_id, hand_out_id } = (answer as HandOut).extra?.quittance ?? {};
  if (settlement_id === undefined || hand_out_id === undefined) return;
  await failpoint('gateway.beforeHandOut');
  const until = performance.now() + HAND_OUT_CONFIRM_MS;
  for (;;) {
    try {
      const timeoutMs = HAND_OUT_TIMEOUT_MS;
      await callOnBus(
        environment.bus(),
        settlement,
        'recordHandOut',
        { settlement_id, hand_out_id },
        { timeoutMs },
      );
      return;
    } catch (error) {
      if (!(error instanceof ServiceError) || performance.now() >= until) throw error;
      await sleep(REPEAT_MS);
    }
  }
};
