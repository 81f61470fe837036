import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { conflict, ServiceError } from '../contract/errors.ts';
import { type CallKey, type Idempotency, IdempotencyKey } from '../contract/idempotency.ts';
import type { Principal } from '../contract/principal.ts';
import { count } from '../lib/metrics.ts';
import type { Answered } from './envelope.ts';

/**
 * A call with an Idempotency-Key: looked up before the handler runs, kept by the handler within its own commit
 * (docs/adr/0017-idempotency-keys.md).
 */

/** Thrown out of the transaction of a handler: another call with the key has committed first. */
export class KeyTaken extends Error {}

/** What is known of a call: what it created, and its answer once it was finished. */
export type KeptCall = { object_id: string | null; answer: unknown };

/** Where a service keeps its calls (shared/db/idempotency.ts). */
export type KeptCalls = {
  /** @throws ServiceError idempotency_mismatch when the key was used with another request */
  find: (key: CallKey) => Promise<KeptCall | null>;
};

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/** One text for one value, in whatever order its fields came. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_name, field: unknown) =>
    typeof field === 'object' && field !== null && !Array.isArray(field)
      ? Object.fromEntries(Object.entries(field).sort(([a], [b]) => (a < b ? -1 : 1)))
      : field,
  );

/** Whose calls are the same caller's: a service's keys, a delegate's keys, the account's sign-ins. */
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

/** @param input checked; the raw body has many spellings of one call */
export const callKey = (
  name: string,
  { idempotency, output }: { idempotency: Idempotency; output: z.ZodType },
  { key, caller, input }: { key: string; caller: Principal; input: unknown },
): CallKey => {
  if (caller.kind === 'none') throw new Error(`${name} takes keys from nobody in particular`);
  return {
    accountId: caller.account_id,
    operation: name,
    keyHash: sha256(IdempotencyKey.parse(key)),
    fingerprint: sha256(canonical([scopeOf(caller), input])),
    // Checked before the commit, and not again by a repeat: a later version may promise more than was answered then.
    toKeep: (answer) => JSON.stringify(output.parse(withoutSecret(idempotency, answer))),
    unfinished: null,
  };
};

/** Each further round is another call that committed or gave up in between. */
const MAX_ROUNDS = 3;

/** @throws ServiceError of a call that is being carried out: nothing says yet what becomes of it */
export const underWay = (): ServiceError =>
  conflict('a call with this Idempotency-Key is under way; repeat it in a moment', {
    money_moved: 'unknown',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: 1,
  });

/**
 * Answers a call from what is kept of it, else by the handler.
 * @throws ServiceError idempotency_mismatch; conflict with a Retry-After while another call with the key is under way
 */
export const once = async (
  calls: KeptCalls,
  key: CallKey,
  work: (call: CallKey) => Promise<unknown>,
): Promise<Answered> => {
  const replay = (ok: unknown): Answered => {
    count('settle.idempotent_replays', 1, { operation: 'keyed' });
    return { ok, replayed: true };
  };
  for (let round = 1; round <= MAX_ROUNDS; round += 1) {
    const known = await calls.find(key);
    if (known !== null && known.answer !== null) return replay(known.answer);
    try {
      const ok = await work({ ...key, unfinished: known?.object_id ?? null });
      return known === null ? { ok } : replay(ok);
    } catch (error) {
      if (error instanceof KeyTaken) continue;
      // What another call with the key has done meanwhile may be why this one is refused: its answer is this one's.
      const winner = error instanceof ServiceError ? await calls.find(key) : null;
      if (winner === null || winner.answer === null) throw error;
      return replay(winner.answer);
    }
  }
  throw underWay();
};
