import bs58 from 'bs58';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Relay } from '../../../shared/events/relay.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import type { Logger } from '../../../shared/lib/logger.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { toInFlight, isUniqueViolation, broadcast } from '../broadcast/broadcast.ts';
import type { InFlightTransactions } from '../broadcast/in-flight.ts';
import type { Network } from '../chain/model/network.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Rpc } from '../chain/rpc-pool.ts';
import { findOnChainPayment } from '../intents/adoption.ts';
import { signedEvent } from '../intents/events.ts';
import { errorKind, otherFailure } from '../intents/model/failure.ts';
import type { Order, UserOrder } from '../intents/model/order.ts';
import { parseOrder } from '../intents/parse-order.ts';
import { commitSigned, type Generation, type IntentRow, insertIntents } from '../intents/store/intents.ts';
import { withBudgetRefusal } from '../limits/budget-refusal.ts';
import type { Cosigned, Cosigning } from '../limits/cosigning.ts';
import { NotCreatable } from '../limits/token-account-rent.ts';
import { isPaused } from '../operator/store/settings.ts';
import { assemble, findCreationIndex, decodeMessage, disassemble } from '../transactions/message.ts';
import type { Signers } from '../transactions/signer.ts';
import { findPreparation, intentIdOf, type PreparationRow, submitPreparation } from './store/preparations.ts';
import { unlessSubmitted } from './unless-submitted.ts';
import { verifySigned } from './verify-signed.ts';

type Deps = {
  pool: Pool;
  relay: Pick<Relay, 'dispatch'>;
  clock: Clock;
  logger: Logger;
  workerId: string;
  environment: string;
  keys: PublicKeys;
  network: Network;
  rpc: Rpc;
  signers: Signers;
  cosigning: Cosigning;
  inFlight: InFlightTransactions;
};

const refusal = (message: string) => conflict(message, { money_moved: 'no' });
const unavailable = (retryAfterSeconds: number) =>
  new ServiceError('service_unavailable', 'not available right now', {
    money_moved: 'no',
    retryAfterSeconds,
  });

/** The message of a wire transaction; none for what is no wire transaction. */
const messageOf = (wire: Buffer): Uint8Array => {
  try {
    return disassemble(wire).message;
  } catch {
    return new Uint8Array();
  }
};

/** The answer of a preparation that was submitted: the same for the same bytes, a conflict for others. */
const repeated = (preparation: PreparationRow, wire: Buffer): { tx_hash: string } => {
  const { tx_hash, submitted_message } = preparation;
  if (tx_hash === null || submitted_message === null || !submitted_message.equals(messageOf(wire)))
    throw conflict('another signed transaction of this preparation was submitted', {
      money_moved: 'unknown',
    });
  return { tx_hash };
};

/** Simulates the message without any signature of ours. */
const simulate = async (deps: Deps, message: Uint8Array, order: Order): Promise<void> => {
  const { signers } = decodeMessage(message);
  const unsigned = assemble(
    message,
    signers.map(() => null),
  );
  const error = await readForCaller(deps.rpc.simulate(unsigned));
  if (error === null) return;
  const kind = errorKind(error, findCreationIndex(message));
  if (kind === 'stale') throw refusal('the transaction has expired, prepare it again');
  if (kind === 'proven') {
    const failure = otherFailure(order.kind, error);
    throw new ServiceError(failure.code, failure.message, { money_moved: 'no' });
  }
  deps.logger.error({ simulation: error }, 'the fee payer or a provider is in trouble');
  throw unavailable(5);
};

type Intent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent' | 'request'>;

/**
 * The bytes of the only generation: co-signed, or those of a transaction that has moved the very same money under this
 * object's reference. The owner broadcast a copy at their own cost, or this database was set back (rule 12).
 */
const bytesFor = async (
  deps: Deps,
  preparation: PreparationRow,
  { intent, order, cosigned }: { intent: Intent; order: Order; cosigned: Cosigned },
  { message, signature }: { message: Uint8Array; signature: Uint8Array },
): Promise<Generation> => {
  const { signers, rpc, pool, logger, clock, cosigning } = deps;
  const paid = await readForCaller(findOnChainPayment(deps, { ...intent, generation: 0, read_at: deps.clock() }, order));
  if (paid === 'by another') throw refusal('the transfer was carried out already');
  if (paid !== null) {
    logger.warn({ intent: intent.intent_id, tx: paid.signature }, 'found on chain, nothing is co-signed');
    return { ...paid, wire: new Uint8Array(), creates: null, signBefore: null };
  }
  // The one that it was prepared with: another's signature would be no signature, and these bytes are all there can be.
  const feePayer = signers.feePayers.find(({ publicKey }) => publicKey === decodeMessage(message).signers[0]);
  if (feePayer === undefined) throw refusal('the platform’s fee payer has changed, prepare it again');
  if (await isPaused(pool)) throw unavailable(30);
  const height = await readForCaller(rpc.first((provider) => provider.blockHeight('confirmed')));
  if (BigInt(height) > preparation.last_valid_block_height)
    throw refusal('the transaction has expired, prepare it again');
  const { creates } = preparation;
  await withBudgetRefusal(clock, cosigning.check(cosigned));
  await simulate(deps, message, order);

  const own = await feePayer.sign(message);
  await failpoint('submitter.afterSign');
  return {
    signature: bs58.encode(own),
    wire: assemble(message, [own, signature]),
    lastValidBlockHeight: Number(preparation.last_valid_block_height),
    creates,
    signBefore: null,
  };
};

const ENDED = {
  cancelled: 'it was cancelled',
  replaced: 'a newer preparation has replaced this one',
  submitted: 'it was submitted',
} as const;

const cosignedOf = (
  { preparation_id, budget_account_id, creates, request }: PreparationRow,
  order: UserOrder,
): Cosigned => ({
  ...{ order, objectId: preparation_id, accountId: budget_account_id, creates },
  settlementId: (request as { settlement_id?: string | null }).settlement_id ?? null,
});

/** Another transaction creates, or has created, the token account: it is paid for once. Nothing is kept of the call. */
const createdMeanwhile = (error: unknown): never => {
  if (error instanceof NotCreatable || isUniqueViolation(error))
    throw refusal('another transaction creates the token account, prepare this one again');
  throw error;
};

/**
 * Checks signed bytes against their preparation, simulates, commits them co-signed as the only generation of their
 * intent, and broadcasts. A repeat of the call gives the same hash; another submission is a conflict.
 */
export const submitPrepared =
  (deps: Deps): Handler<typeof chainSubmitter.internal.submitPrepared> =>
  ({ preparation_id, transaction }) => {
    const wire = Buffer.from(transaction, 'base64');
    return unlessSubmitted(deps, preparation_id, {
      work: () => submit(deps, preparation_id, wire),
      answer: (preparation) => repeated(preparation, wire),
    });
  };

const submit = async (deps: Deps, preparation_id: string, wire: Buffer): Promise<{ tx_hash: string }> => {
  const { pool, inFlight, relay, workerId, clock } = deps;
  const preparation = await findPreparation(pool, preparation_id);
  // Without its record nothing is known of it.
  if (preparation === null) throw conflict('no such preparation');
  const { status } = preparation;
  if (status !== 'open') throw refusal(ENDED[status]);
  const submitted = verifySigned(preparation.message, wire, preparation.owner);
  const { message } = submitted;

  const { kind, request } = preparation;
  const intent: Intent = {
    intent_id: intentIdOf(preparation),
    kind,
    object_id: preparation_id,
    traceparent: activeTraceparent(),
    request,
  };
  const order = parseOrder({ kind, request, created_at: clock() }, deps) as UserOrder;
  const cosigned = cosignedOf(preparation, order);
  const bytes = await bytesFor(deps, preparation, { intent, order, cosigned }, submitted);
  // One commit: what it costs, the preparation's only submission, the intent, its only bytes, and
  // the event.
  const commit = pool.transaction(async (tx) => {
    if (!(await submitPreparation(tx, preparation, { message, txHash: bytes.signature }))) return null;
    if (bytes.wire.length > 0) await deps.cosigning.reserve(tx, intent.intent_id, cosigned);
    const [inserted = null] = await insertIntents(tx, [intent], workerId);
    if (inserted === null) throw new Error('an open preparation has an intent already');
    const transition = { intentId: intent.intent_id, generation: 1, traceparent: intent.traceparent };
    const signed = signedEvent(intent, { generation: 1, signature: bytes.signature });
    const [rows] = await commitSigned(tx, [{ ...transition, message: signed, signed: bytes, claim: null }]);
    return { inserted, rows: typeof rows === 'string' ? [] : rows! };
  });
  const committed = await withBudgetRefusal(clock, commit.catch(createdMeanwhile));
  if (committed === null) throw refusal(ENDED.replaced);
  relay.dispatch(committed.rows);
  await failpoint('submitter.afterCommit');
  if (inFlight.begin(intent.intent_id)) {
    broadcast(deps, toInFlight({ ...committed.inserted, status: 'signed' }, order, { ...bytes, generation: 1 }));
  }
  return { tx_hash: bytes.signature };
};
