import bs58 from 'bs58';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { assemble, disassemble } from '../../../shared/lib/chain/wire-transaction.ts';
import type { Clock } from '../../../shared/lib/clock.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { adoptedBytes, broadcast, isUniqueViolation } from '../broadcast/broadcast.ts';
import { type InFlightTransactions, toInFlight } from '../broadcast/in-flight.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { findOnChainPayment } from '../execution/adoption.ts';
import { signedEvent } from '../ledger/events.ts';
import { preparedIntentId } from '../ledger/intent-id.ts';
import { errorKind, otherFailure } from '../ledger/model/failure.ts';
import type { Network } from '../ledger/model/network.ts';
import type { Order, UserOrder } from '../ledger/model/order.ts';
import { commitSigned, type Generation } from '../ledger/store/commit-signed.ts';
import type { IntentRow } from '../ledger/store/intents.ts';
import { findPreparation, type PreparationRow, submitPreparation } from '../ledger/store/preparations.ts';
import { isStopped } from '../ledger/store/settings.ts';
import { withBudgetRefusal } from '../limits/budget-refusal.ts';
import type { Cosigned, Cosigning } from '../limits/cosigning.ts';
import { NotCreatable } from '../limits/token-account-rent.ts';
import { signForCaller } from '../signing/sign-for-caller.ts';
import type { Signers } from '../signing/signer.ts';
import { decodeMessage, findCreationIndex } from '../transactions/message.ts';
import { parseOrder } from '../transactions/parse-order.ts';
import { unlessSubmitted } from './unless-submitted.ts';
import { verifySigned } from './verify-signed.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  clock: Clock;
  logger: Logger;
  workerId: string;
  environment: string;
  keys: PublicKeys;
  network: Network;
  rpc: RpcPool;
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

/** The message of a wire transaction; empty for other bytes. */
const messageOf = (wire: Buffer): Uint8Array => {
  try {
    return disassemble(wire).message;
  } catch {
    return new Uint8Array();
  }
};

/**
 * The answer for a submitted preparation: the same for the same bytes, a conflict for other bytes.
 */
const repeated = (preparation: PreparationRow, wire: Buffer): { tx_hash: string } => {
  const { signature, submitted_message } = preparation;
  if (signature === null || submitted_message === null || !submitted_message.equals(messageOf(wire)))
    throw conflict('another signed transaction of this preparation was submitted', {
      money_moved: 'unknown',
    });
  return { tx_hash: signature };
};

/** Simulates the message unsigned. */
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
  deps.logger.error({ simulation: error }, 'simulation failed because of the fee payer or a provider');
  throw unavailable(5);
};

type Intent = Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent' | 'request'>;

/**
 * The bytes of the only generation. They are co-signed here, or adopted when a transaction under
 * this object's reference has moved the same money: the owner broadcast a copy at their own cost,
 * or this database was restored from a backup (rule 12).
 */
const bytesFor = async (
  deps: Deps,
  preparation: PreparationRow,
  { intent, order, cosigned }: { intent: Intent; order: Order; cosigned: Cosigned },
  { message, signature }: { message: Uint8Array; signature: Uint8Array },
): Promise<Generation> => {
  const { signers, rpc, pool, logger, clock, cosigning } = deps;
  const payment = await readForCaller(
    findOnChainPayment(deps, { ...intent, generation: 0, read_at: deps.clock() }, order),
  );
  if (payment === 'by another') throw refusal('the transfer was carried out already');
  if (payment !== null) {
    logger.warn(
      { intent: intent.intent_id, signature: payment.signature },
      'payment found on the chain, adopting it without a co-signature',
    );
    return adoptedBytes({ generation: 0 }, payment);
  }
  // The fee payer of the preparation must sign, because the message names it and cannot change.
  const feePayer = signers.feePayers.find(({ publicKey }) => publicKey === decodeMessage(message).signers[0]);
  if (feePayer === undefined) throw refusal('the platform’s fee payer has changed, prepare it again');
  if (await isStopped(pool)) throw unavailable(30);
  const height = await readForCaller(rpc.first((provider) => provider.blockHeight('confirmed')));
  if (BigInt(height) > preparation.last_valid_block_height)
    throw refusal('the transaction has expired, prepare it again');
  const { creates } = preparation;
  await withBudgetRefusal(clock, cosigning.check(cosigned));
  await simulate(deps, message, order);

  const own = await signForCaller(feePayer.sign(message));
  await failpoint('submitter.afterSign');
  return {
    generation: 1,
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
  order,
  objectId: preparation_id,
  accountId: budget_account_id,
  creates,
  settlementId: (request as { settlement_id?: string | null }).settlement_id ?? null,
});

/**
 * Refuses a creation that another transaction makes, because each is paid for once. The call is
 * rolled back.
 */
const refuseSecondCreation = (error: unknown): never => {
  if (error instanceof NotCreatable || isUniqueViolation(error))
    throw refusal('another transaction creates the token account, prepare this one again');
  throw error;
};

/**
 * Checks signed bytes against their preparation, simulates them, commits them co-signed as the only
 * generation of their intent, and broadcasts them. A repeated call gets the same signature, and
 * another submission is a conflict.
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
  if (preparation === null) throw conflict('no such preparation');
  const { status } = preparation;
  if (status !== 'open') throw refusal(ENDED[status]);
  const submitted = verifySigned(preparation.message, wire, preparation.owner);
  const { message } = submitted;

  const { kind, request } = preparation;
  const intent: Intent = {
    intent_id: preparedIntentId(preparation),
    kind,
    object_id: preparation_id,
    traceparent: activeTraceparent(),
    request,
  };
  const order = parseOrder({ kind, request, created_at: clock() }, deps) as UserOrder;
  const cosigned = cosignedOf(preparation, order);
  const bytes = await bytesFor(deps, preparation, { intent, order, cosigned }, submitted);
  // One commit holds the cost, the preparation's only submission, the intent, its only bytes and
  // the event.
  const commit = pool.transaction(async (tx) => {
    if (!(await submitPreparation(tx, preparation, { message, signature: bytes.signature }))) return null;
    if (bytes.wire.length > 0) await deps.cosigning.reserve(tx, intent.intent_id, cosigned);
    const event = signedEvent(intent, bytes);
    const signed = { intent, isNew: true, signed: bytes, message: event, claim: null };
    const [rows] = await commitSigned(tx, [signed], workerId);
    if (typeof rows === 'string') throw new Error('An open preparation has an intent already.');
    return rows!;
  });
  const committed = await withBudgetRefusal(clock, commit.catch(refuseSecondCreation));
  if (committed === null) throw refusal(ENDED.replaced);
  relay.dispatch(committed);
  await failpoint('submitter.afterCommit');
  if (inFlight.begin(intent.intent_id)) {
    broadcast(deps, toInFlight(intent, order, bytes));
  }
  return { tx_hash: bytes.signature };
};
