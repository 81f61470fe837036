import { createHash } from 'node:crypto';
import type { Answered } from '../bus/envelope.ts';
import type { IdempotentCalls, KeyedCall } from '../bus/serve.ts';
import { ServiceError } from '../contract/errors.ts';
import { type CallKey, type Idempotency, IdempotencyKey } from '../contract/idempotency.ts';
import type { Principal } from '../contract/principal.ts';
import type { Pool } from '../db/pool.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { callInProgress, findCall, KeyTaken } from './store.ts';

/**
 * Calls with an Idempotency-Key. An earlier call is searched before the handler runs, and the
 * handler records its call within its commit (docs/adr/0017-idempotency-keys.md).
 */

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** One text for a value, independent of the order of its fields. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );

/** The input without the fields that mean the same when they are absent. */
const withoutDefaults = (input: unknown, defaults: KeyedCall['defaults']): object =>
  Object.fromEntries(
    Object.entries(input as object).filter(
      ([name, value]) => !(name in defaults) || canonical(value) !== canonical(defaults[name]),
    ),
  );

/**
 * The caller for the comparison of calls: the keys of a service, the keys of a delegate, or the
 * sign-ins of an account.
 */
const scopeOf = (caller: Principal): string => {
  if (caller.kind === 'service_key') return caller.service_id;
  return caller.kind === 'delegate_key' ? caller.delegate_id : caller.kind;
};

const withoutSecret = (idempotency: Idempotency, answer: object): object => {
  if (idempotency === true) return answer;
  const { [idempotency.secret]: secret, ...rest } = answer as Record<string, unknown>;
  if (typeof secret !== 'string') throw new Error(`the answer has no ${idempotency.secret}`);
  return { ...rest, secret_already_shown: true };
};

const callKey = ({ operation, idempotency, output, key, caller, input, defaults }: KeyedCall): CallKey => {
  if (caller.kind === 'none')
    throw new Error(`${operation} takes an Idempotency-Key, so it needs a caller with an account`);
  return {
    accountId: caller.account_id,
    operation,
    keyHash: sha256(IdempotencyKey.parse(key)),
    fingerprint: sha256(canonical([scopeOf(caller), withoutDefaults(input, defaults)])),
    // Parsed before the commit, and not by a repeat: a later version may require more than this
    // answer has.
    answerText: (answer) => JSON.stringify(output.parse(withoutSecret(idempotency, answer))),
    begun: null,
  };
};

/** Each further round follows another call that was committed or abandoned in between. */
const MAX_ROUNDS = 3;

/**
 * Answers a call from an earlier one with its key, otherwise by the handler.
 * @throws ServiceError idempotency_mismatch; conflict with a Retry-After while another call with
 *   the key is open
 */
const answer = async (
  pool: Pool,
  key: CallKey,
  work: (key: CallKey) => Promise<unknown>,
): Promise<Answered> => {
  const replay = (ok: unknown): Answered => {
    count('quittance_idempotent_replays_total', 1, { operation: 'keyed' });
    return { ok, replayed: true };
  };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const earlier = await findCall(pool, key);
    if (earlier !== null && earlier.answer !== null) return replay(earlier.answer);
    try {
      const ok = await work({ ...key, begun: earlier?.object_id ?? null });
      return earlier === null ? { ok } : replay(ok);
    } catch (error) {
      if (error instanceof KeyTaken) continue;
      // Another call with the key may have caused the refusal. Its answer is then the answer of
      // this call.
      const winner = error instanceof ServiceError ? await findCall(pool, key) : null;
      if (winner === null || winner.answer === null) throw error;
      return replay(winner.answer);
    }
  }
  throw callInProgress();
};

/** Answers the calls of a service with a key, for `serve`. */
export const idempotentCalls =
  (pool: Pool): IdempotentCalls =>
  (call, work) =>
    answer(pool, callKey(call), work);
