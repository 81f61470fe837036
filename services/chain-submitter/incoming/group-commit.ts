import { batched } from '../../../shared/db/batched.ts';
import type { Db, Pool } from '../../../shared/db/pool.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import { commitSigned, type Generation, type SignedTransition } from '../ledger/store/commit-signed.ts';
import type { IntentRow } from '../ledger/store/intents.ts';
import type { IncomingRequest } from '../transactions/parse-order.ts';
import type { SourceBalance } from './source-balance.ts';
import { type Held, listHeld, lockPayments } from './store/intents.ts';
import { listVendorRoom, type VendorLimits } from './store/vendor-room.ts';

export type IncomingIntent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent'> & {
  request: IncomingRequest;
};
/**
 * A payment with its only bytes, and the balance of its source. `alone`: the source may have no
 * other payment under way.
 */
type SignedIncoming = {
  intent: IncomingIntent;
  source: string;
  alone: boolean;
  totalMicro: bigint;
  signed: Generation;
  balance: SourceBalance;
};
/**
 * `exists`: the message has an intent. `too_many`: the source has as many payments under way as it
 * may have, `too_many_of_vendor`: so has its vendor. `not_covered`: other payments need the
 * balance.
 */
type NotSigned = 'exists' | 'too_many' | 'too_many_of_vendor' | 'not_covered';
/** Outbox rows for `relay.dispatch`, or why the payment was not signed. */
type IncomingOutcome = readonly OutboxRow[] | NotSigned;

/**
 * The vendor account whose failures a payment counts for, if it fails; null for a payment of x402,
 * whose fee accrues, and for one that may be the only one of its source.
 */
const riskOf = ({ intent: { request }, alone }: SignedIncoming): string | null =>
  alone || request.legs.length === 1 ? null : request.account_id;

const signsLast = ({ intent }: SignedIncoming): boolean => intent.request.signs_last === true;

/** Those that count for each other before they are on chain. */
const groupOf = (payment: SignedIncoming): string => `${signsLast(payment)}/${payment.source}`;

/**
 * Which of the new payments the vendors and sources allow and cover, with what is held of them and
 * with the earlier payments of the same list. One whose message is closed at this moment counts
 * too.
 */
const evaluateCover = (
  payments: readonly SignedIncoming[],
  held: readonly Held[],
  roomOf: Map<string, bigint>,
): ('covered' | NotSigned)[] => {
  const taken = new Map<string, { micro: bigint; payments: bigint }>();
  return payments.map((payment, index) => {
    const { totalMicro, balance } = payment;
    const group = groupOf(payment);
    const vendor = riskOf(payment);
    const room = vendor === null ? 1n : roomOf.get(vendor)!;
    const before = taken.get(group) ?? { micro: 0n, payments: 0n };
    const { held: heldMicro, spare, exists } = held[index]!;
    if (exists) return 'exists';
    if (heldMicro + before.micro + totalMicro > balance.balanceMicro) return 'not_covered';
    if (before.payments >= spare) return 'too_many';
    if (room <= 0n) return 'too_many_of_vendor';
    if (vendor !== null) roomOf.set(vendor, room - 1n);
    taken.set(group, { micro: before.micro + totalMicro, payments: before.payments + 1n });
    return 'covered';
  });
};

/** How many more payments may be under way, by vendor account. */
const readRoom = async (
  tx: Db,
  vendors: readonly string[],
  limits: VendorLimits,
): Promise<Map<string, bigint>> => {
  const accounts = [...new Set(vendors)];
  const rooms = accounts.length === 0 ? [] : await listVendorRoom(tx, accounts, limits, vendors.length);
  return new Map(accounts.map((account, index) => [account, rooms[index]!.room]));
};

/** That bytes are signed is published when the payment takes long (rebroadcast.ts). */
const transitionOf = ({ intent, signed }: SignedIncoming): SignedTransition => ({
  intent,
  isNew: true,
  signed,
  message: null,
  claim: null,
});

/** Records signed payments. @returns null for a message that has an intent already */
const insertSigned = async (
  tx: Db,
  payments: readonly SignedIncoming[],
  workerId: string,
): Promise<(readonly OutboxRow[] | null)[]> => {
  if (payments.length === 0) return [];
  const committed = await commitSigned(tx, payments.map(transitionOf), workerId);
  return committed.map((outcome) => (typeof outcome === 'string' ? null : outcome));
};

const commitAll = (
  pool: Pool,
  payments: readonly SignedIncoming[],
  { limits, workerId }: { limits: VendorLimits; workerId: string },
): Promise<IncomingOutcome[]> =>
  pool.transaction(async (tx) => {
    const sources = payments.map(({ source }) => source);
    const groups = payments.map(groupOf);
    const vendors = payments.flatMap((payment) => riskOf(payment) ?? []);
    await lockPayments(tx, [...sources, ...vendors]);
    // Later statements than the lock, so that they see what the lock has waited for.
    const held = await listHeld(
      tx,
      payments.map((payment, index) => ({
        intentId: payment.intent.intent_id,
        source: payment.source,
        alone: payment.alone,
        last: signsLast(payment),
        slot: payment.balance.slot,
        contains: payment.balance.contains,
        asking: groups.filter((each) => each === groups[index]).length,
      })),
    );
    const evaluated = evaluateCover(payments, held, await readRoom(tx, vendors, limits));
    const covered = payments.filter((_, index) => evaluated[index] === 'covered');
    const signed = await insertSigned(tx, covered, workerId);
    return payments.map((payment, index) => {
      const result = evaluated[index]!;
      return result === 'covered' ? (signed[covered.indexOf(payment)] ?? 'exists') : result;
    });
  });

/**
 * Group commit of payments of other clients. Payments of one source wait for each other's commits,
 * so the payments that arrive meanwhile share the next one. The sources are locked, so that
 * concurrent payments of two replicas do not use the same balance.
 */
export const createIncomingCommit = (pool: Pool, limits: VendorLimits, workerId: string) =>
  batched((payments: readonly SignedIncoming[]) => commitAll(pool, payments, { limits, workerId }), {
    keysOf: ({ intent }) => [intent.intent_id],
  });
export type IncomingCommit = ReturnType<typeof createIncomingCommit>;
