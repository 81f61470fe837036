import type { Lost } from '../../../shared/contract/chain-submitter.ts';
import { assemble, hashMessage } from '../../../shared/lib/chain/wire-transaction.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { PROGRAMS, tokenAccountOf } from '../chain/addresses.ts';
import type { IncludedTransaction } from '../chain/included-transaction.ts';
import { unknownOnError } from '../chain/read-for-caller.ts';
import { getIncluded } from '../chain/read-included.ts';
import { BLOCK_TIME_ERROR_MS, listTransactionsAt } from '../chain/reference-search.ts';
import type { Network } from '../ledger/model/network.ts';
import { insertOutgoingIntent } from '../ledger/store/intents.ts';
import { insertMessage, isOutgoing } from '../ledger/store/messages.ts';
import { listRecorded } from '../ledger/store/transactions.ts';
import {
  type LostDeps as MessageDeps,
  readLastValidOfLost,
  readLostMessage,
  reportAdopted,
} from '../payments/lost-message.ts';
import { type KnownInstruction, readInstruction } from '../transactions/decode.ts';
import { decodeAnyMessage, type PlainMessage } from '../transactions/message.ts';
import type { OutgoingRequest } from '../transactions/parse-order.ts';
import { legsOf, memoOf } from './terms.ts';

/*
 * Outgoing payments whose record a restore has lost. The memo of an attempt is a hash of its id, so
 * the chain proves whether it was paid, unless its vendor required another memo (docs/adr/0034).
 */

export type LostDeps = MessageDeps & { network: Network };
/** What identifies a payment of an attempt. */
type Wanted = Pick<OutgoingRequest, 'pay_to' | 'amount' | 'memo' | 'splits'> & { intentId: string };
/**
 * `paid`: the transaction of the attempt. `undecided`: those that may be of another attempt; none
 * proves that the attempt was not paid.
 */
type Found = { paid: IncludedTransaction; owner: string } | { undecided: readonly string[] };

/** Transactions of a source that succeeded in the lost time, and have no record here. */
const listUnrecorded = async (
  { rpc, pool }: LostDeps,
  source: string,
  { since, until }: Lost,
): Promise<string[]> => {
  const search = { reference: source, since: Date.parse(since) };
  const before = Date.parse(until) + BLOCK_TIME_ERROR_MS;
  const lists = await Promise.all(rpc.providers.map((provider) => listTransactionsAt(provider, search)));
  const listed = lists
    .flat()
    .filter(({ succeeded, at }) => succeeded && (at === null || at <= before))
    .map(({ signature }) => signature);
  const recorded = new Set(await listRecorded(pool, listed));
  return [...new Set(listed)].filter((signature) => !recorded.has(signature));
};

const known = (instruction: PlainMessage['instructions'][number]): KnownInstruction | null => {
  try {
    return readInstruction(instruction);
  } catch {
    return null;
  }
};

/** A message of this service always decodes. Another one is no outgoing payment. */
const decode = (message: Uint8Array): PlainMessage | null => {
  try {
    return decodeAnyMessage(message);
  } catch {
    return null;
  }
};

type Match = 'paid' | 'undecided' | null;

/** Compares a transaction of a source with a payment. */
const match = ({ message }: IncludedTransaction, wanted: Wanted, source: string, network: Network): Match => {
  const plain = decode(message);
  if (plain === null) return null;
  const memos = plain.instructions
    .filter(({ program }) => program === PROGRAMS.memo)
    .map(({ data }) => Buffer.from(data).toString('utf8'));
  const instructions = plain.instructions.map(known);
  const paysIt = legsOf(wanted.intentId, wanted, network.mint).every(({ destination, amountMicro }) =>
    instructions.some(
      (each) =>
        each?.name === 'transferChecked' &&
        each.source === source &&
        each.destination === destination &&
        each.amountMicro === amountMicro &&
        network.delegateAuthorities.includes(each.authority),
    ),
  );
  const isSigned = plain.signers.length === 2 && network.delegateAuthorities.includes(plain.signers[1]!);
  if (memos.includes(memoOf(wanted.intentId)))
    return paysIt && isSigned && wanted.memo === null && wanted.splits === undefined ? 'paid' : 'undecided';
  // The bytes of MPP have no memo of the attempt.
  const isLike = wanted.memo === null ? wanted.splits !== undefined : memos.includes(wanted.memo);
  return isLike && paysIt ? 'undecided' : null;
};

/**
 * Searches the sources of an account for a payment of the lost time, at every provider. None of its
 * bytes can be included any more, because a restore waits for that.
 * @throws RpcUnavailable when a provider does not answer, which proves nothing
 */
const search = async (deps: LostDeps, wanted: Wanted, lost: Lost): Promise<Found> => {
  const undecided: string[] = [];
  for (const owner of new Set(lost.owners)) {
    const source = tokenAccountOf(owner, deps.network.mint);
    for (const signature of await listUnrecorded(deps, source, lost)) {
      const included = await getIncluded(deps, signature);
      const matched = match(included, wanted, source, deps.network);
      if (matched === null || (await isOutgoing(deps.pool, hashMessage(included.message)))) continue;
      if (matched === 'paid') return { paid: included, owner };
      undecided.push(signature);
    }
  }
  return { undecided };
};

/** @throws ServiceError service_unavailable, with `money_moved: unknown` */
export const searchForCaller = (deps: LostDeps, wanted: Wanted, lost: Lost): Promise<Found> =>
  unknownOnError(search(deps, wanted, lost));

/**
 * Records a payment that the chain has, as if it had just been signed. The watcher finds its
 * transaction by the message, which makes it confirmed.
 */
const adopt = async (
  deps: LostDeps,
  { intentId, request, since }: { intentId: string; request: OutgoingRequest; since: string },
  { message, signature, signatureAt }: IncludedTransaction,
): Promise<void> => {
  const row = {
    message_hash: hashMessage(message),
    wire: assemble(message, [null, signatureAt(1)]),
    last_valid_block_height: await readLastValidOfLost(deps),
  };
  const { settlement_id: object_id } = request;
  const intent = { intent_id: intentId, object_id, request, traceparent: activeTraceparent(), since };
  await deps.pool.transaction(async (tx) => {
    if (await insertOutgoingIntent(tx, intent)) await insertMessage(tx, intentId, row);
  });
  reportAdopted(deps, 'lost outgoing payment', { intent: intentId, settlement_id: object_id, signature });
};

/**
 * Adopts a payment whose bytes were answered before, and whose record is lost: the transaction of
 * its message proves it.
 * @param since no transaction of it is older
 * @returns false when no provider has it. Its bytes are unknown, so nothing proves that they can
 *   never be included
 * @throws ServiceError service_unavailable when a provider does not answer
 */
export const adoptAnswered = async (
  deps: LostDeps,
  { intentId, request, since }: { intentId: string; request: OutgoingRequest; since: string },
  messageHash: string,
): Promise<boolean> => {
  const source = tokenAccountOf(request.owner, deps.network.mint);
  const paid = await readLostMessage(deps, { messageHash, source, since });
  if (paid === null) return false;
  await adopt(deps, { intentId, request, since }, paid);
  return true;
};

/**
 * Adopts the payment of an attempt without an intent, if a restore has lost its record and the
 * chain has it.
 * @returns `adopted`: it has an intent now. `undecided`: it may be paid, so nothing may be signed
 *   or closed for it. `none`: it was not paid
 * @throws ServiceError service_unavailable when the chain cannot be searched
 */
export const adoptLost = async (
  deps: LostDeps,
  { intentId, request }: { intentId: string; request: OutgoingRequest },
  lost: Lost | null | undefined,
): Promise<'adopted' | 'undecided' | 'none'> => {
  if (lost === null || lost === undefined) return 'none';
  const owners = [request.owner, ...lost.owners];
  const found = await searchForCaller(deps, { intentId, ...request }, { ...lost, owners });
  if ('undecided' in found && found.undecided.length === 0) return 'none';
  const log = { intent: intentId, settlement_id: request.settlement_id };
  if ('undecided' in found || found.owner !== request.owner) {
    count('quittance_anomalies_total', 1, { kind: 'unknown_settlement' });
    deps.logger.error(log, 'the chain has a payment that may be this one, nothing is signed or closed');
    return 'undecided';
  }
  await adopt(deps, { intentId, request, since: lost.since }, found.paid);
  return 'adopted';
};
