import { createHash } from 'node:crypto';
import type { Answered } from '../bus/envelope.ts';
import type { IdempotentCalls, KeyedCall } from '../bus/serve.ts';
import { ServiceError } from '../contract/errors.ts';
import { type CallKey, type Idempotency, IdempotencyKey } from '../contract/idempotency.ts';
import type { Principal } from '../contract/principal.ts';
import type { Pool } from '../db/pool.ts';
import { count } from '../lib/metrics.ts';
import { callInProgress, findCall, KeyTaken } from './store.ts';

/**
 * Calls with an Idempotency-Key: an earlier one is looked for before the handler runs, and the
 * handler records its own within its commit (docs/adr/0017-idempotency-keys.md).
 */

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** One text for one value, in whatever order its fields came. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );

/**
 * Whose calls are the same caller's: a service's keys, a delegate's keys, the account's sign-ins.
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

const callKey = ({ operation, idempotency, output, key, caller, input }: KeyedCall): CallKey => {
  if (caller.kind === 'none') throw new Error(`${operation} takes keys from nobody in particular`);
  return {
    accountId: caller.account_id,
    operation,
    keyHash: sha256(IdempotencyKey.parse(key)),
    fingerprint: sha256(canonical([scopeOf(caller), input])),
    // Checked before the commit, and not again by a repeat: a later version may promise more than
    // was answered then.
    answerText: (answer) => JSON.stringify(output.parse(withoutSecret(idempotency, answer))),
    begun: null,
  };
};

/** Each further round is another call that committed or was abandoned in between. */
const MAX_ROUNDS = 3;

/**
 * Answers a call from an earlier one with its key, else by the handler.
 * @throws ServiceError idempotency_mismatch; conflict with a Retry-After while another call with
 *   the key is under way
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
      // What another call with the key has done meanwhile may be why this one is refused: its
      // answer is this one's.
      const winner = error instanceof ServiceError ? await findCall(pool, key) : null;
      if (winner === null || winner.answer === null) throw error;
      return replay(winner.answer);
    }
  }
  throw callInProgress();
};

/** What `serve` answers the calls of a service by that come with a key. */
export const idempotentCalls =
  (pool: Pool): IdempotentCalls =>
  (call, work) =>
    answer(pool, callKey(call), work);
