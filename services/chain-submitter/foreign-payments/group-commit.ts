import { batched } from '../../../shared/db/batched.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import type { ForeignRequest } from '../intents/parse-order.ts';
import { commitSigned, type Generation } from '../intents/store/commit-signed.ts';
import { type IntentRow, insertIntents } from '../intents/store/intents.ts';
import type { SourceBalance } from './source-balance.ts';
import { type Held, listHeldMicro, lockSources } from './store/intents.ts';

export type ForeignIntent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'> & {
  request: ForeignRequest;
};
/** A payment with its only bytes, and the balance of its source. */
type SignedForeign = {
  intent: ForeignIntent;
  source: string;
  totalMicro: bigint;
  signed: Generation;
  balance: SourceBalance;
};
/**
 * Outbox rows for `relay.dispatch`; `exists`: the message has an intent; `not_covered`: other
 * payments need the balance.
 */
type ForeignOutcome = readonly OutboxRow[] | 'exists' | 'not_covered';

/**
 * The new payments that the balances of their sources cover, with what is held of them and with the
 * earlier payments of the same list. One whose message is closed at this moment counts too.
 */
const listCovered = (payments: readonly SignedForeign[], held: readonly Held[]): SignedForeign[] => {
  const taken = new Map<string, bigint>();
  return payments.filter(({ source, totalMicro, balance }, index) => {
    const before = taken.get(source) ?? 0n;
    const { held: heldMicro, exists } = held[index]!;
    if (exists || heldMicro + before + totalMicro > balance.balanceMicro) return false;
    taken.set(source, before + totalMicro);
    return true;
  });
};

/** That bytes are signed is published when the payment takes long (rebroadcast.ts). */
const transitionOf = ({ intent: { intent_id: intentId, traceparent }, signed }: SignedForeign) => ({
  ...{ intentId, generation: 1, traceparent, message: null, signed, claim: null },
});

/** Inserts and signs payments. @returns null for a message that has an intent already */
const insertSigned = async (
  tx: Db,
  payments: readonly SignedForeign[],
  workerId: string,
): Promise<(readonly OutboxRow[] | null)[]> => {
  if (payments.length === 0) return [];
  const intents = payments.map(({ intent }) => intent);
  const rows = await insertIntents(tx, intents, workerId);
  const inserted = payments.filter((_, index) => rows[index] !== null);
  const committed = inserted.length === 0 ? [] : await commitSigned(tx, inserted.map(transitionOf));
  if (committed.some((outcome) => typeof outcome === 'string'))
    throw new Error('A new intent was not signed.');
  return payments.map((payment) => (committed[inserted.indexOf(payment)] ?? null) as OutboxRow[] | null);
};

const commitAll = (
  pool: Pool,
  payments: readonly SignedForeign[],
  workerId: string,
): Promise<ForeignOutcome[]> =>
  pool.transaction(async (tx) => {
    const sources = payments.map(({ source }) => source);
    await lockSources(tx, sources);
    // A later statement than the lock, so that it sees what the lock has waited for.
    const held = await listHeldMicro(
      tx,
      payments.map(({ intent, source, balance: { slot, contains } }) => ({
        ...{ intentId: intent.intent_id, source, slot, contains },
      })),
    );
    const covered = listCovered(payments, held);
    const signed = await insertSigned(tx, covered, workerId);
    return payments.map((payment, index) => {
      const position = covered.indexOf(payment);
      if (position >= 0) return signed[position] ?? 'exists';
      return held[index]!.exists ? 'exists' : 'not_covered';
    });
  });

/**
 * Group commit of payments of other clients. Payments of one source wait for each other's commits,
 * so the payments that arrive meanwhile share the next one. The sources are locked, so that
 * concurrent payments of two replicas do not use the same balance.
 */
export const createForeignCommit = (pool: Pool, workerId: string) =>
  batched((payments: readonly SignedForeign[]) => commitAll(pool, payments, workerId), {
    keysOf: ({ intent }) => [intent.intent_id],
  });
export type ForeignCommit = ReturnType<typeof createForeignCommit>;
