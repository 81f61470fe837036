import bs58 from 'bs58';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from '../caps.ts';
import type { Deps } from '../deps.ts';
import { errorKind, otherFailure } from '../domain/failure.ts';
import type { Order } from '../domain/order.ts';
import { findPaid } from '../found.ts';
import { flightOf, launch } from '../launch.ts';
import { readOrder } from '../orders.ts';
import { checkPrepared } from '../prepared.ts';
import { signedFact } from '../progress.ts';
import { reading } from '../reading.ts';
import { commitSigned, type Generation, type IntentRow, insertIntents } from '../store/intents.ts';
import {
  findPreparation,
  intentIdOf,
  type PreparationRow,
  submitPreparation,
} from '../store/preparations.ts';
import { isPaused } from '../store/settings.ts';
import { assemble, decodeMessage } from '../wire.ts';

const conflict = (message: string) => new ServiceError('conflict', message, { money_moved: 'no' });
const unavailable = (retryAfterSeconds: number) =>
  new ServiceError('service_unavailable', 'not available right now', {
    money_moved: 'no',
    retryAfterSeconds,
  });

/** The answer of a preparation that was submitted: the same for the same bytes, a conflict for others. */
const repeated = (preparation: PreparationRow, message: Uint8Array): { tx_hash: string } => {
  const { tx_hash, submitted_message } = preparation;
  if (tx_hash === null || submitted_message === null || !submitted_message.equals(message))
    throw new ServiceError('conflict', 'another signed transaction of this preparation was submitted', {
      money_moved: 'unknown',
    });
  return { tx_hash };
};

/** What is no longer open is answered or refused. */
const ended = (preparation: PreparationRow | null, message: Uint8Array): { tx_hash: string } => {
  if (preparation?.status === 'submitted') return repeated(preparation, message);
  throw conflict(
    preparation?.status === 'cancelled' ? 'it was cancelled' : 'a newer preparation has replaced this one',
  );
};

/** Simulates the message without any signature of ours. */
const simulate = async (deps: Deps, message: Uint8Array, order: Order, creates: boolean): Promise<void> => {
  const { signers } = decodeMessage(message);
  const unsigned = assemble(
    message,
    signers.map(() => null),
  );
  const error = await reading(deps.rpc.simulate(unsigned));
  if (error === null) return;
  const kind = errorKind(error, { creates });
  if (kind === 'stale') throw conflict('the transaction has expired, prepare it again');
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
  { intent, order }: { intent: Intent; order: Order },
  { message, signature }: { message: Uint8Array; signature: Uint8Array },
): Promise<Generation> => {
  const { signers, rpc, caps, pool, logger } = deps;
  const paid = await reading(findPaid(deps, { ...intent, generation: 0, read_at: deps.clock() }, order));
  if (paid === 'by another') throw conflict('the transfer was carried out already');
  if (paid !== null) {
    logger.warn({ intent: intent.intent_id, tx: paid.signature }, 'found on chain, nothing is co-signed');
    return { ...paid, wire: new Uint8Array(), creates: null, signBefore: null };
  }
  // The one that it was prepared with: another's signature would be no signature, and these bytes are all there can be.
  const feePayer = signers.feePayers.find(({ publicKey }) => publicKey === decodeMessage(message).signers[0]);
  if (feePayer === undefined) throw conflict('the platform’s fee payer has changed, prepare it again');
  if (await isPaused(pool)) throw unavailable(30);
  const height = await reading(rpc.first((provider) => provider.blockHeight('confirmed')));
  if (BigInt(height) > preparation.last_valid_block_height)
    throw conflict('the transaction has expired, prepare it again');
  const { creates } = preparation;
  await simulate(deps, message, order, creates !== null);
  if (creates !== null && !(await caps.takeLamports(TOKEN_ACCOUNT_LAMPORTS))) throw unavailable(60);

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

/**
 * Checks signed bytes against their preparation, simulates, commits them co-signed as the only generation of their
 * intent, and broadcasts. A repeat of the call gives the same hash; another submission is a conflict.
 */
export const submitPrepared =
  (deps: Deps): Handler<typeof chainSubmitter.internal.submitPrepared> =>
  async ({ preparation_id, transaction }) => {
    const { pool, flights, relay, workerId, clock } = deps;
    const preparation = await findPreparation(pool, preparation_id);
    if (preparation === null) throw conflict('no such preparation');
    if (preparation.status === 'cancelled') throw conflict('it was cancelled');
    const wire = Buffer.from(transaction, 'base64');
    const submitted = checkPrepared(preparation.message, wire, preparation.owner);
    const { message } = submitted;
    if (preparation.status !== 'open') return ended(preparation, message);

    const { kind, request } = preparation;
    const intent: Intent = {
      intent_id: intentIdOf(preparation),
      kind,
      object_id: preparation_id,
      traceparent: activeTraceparent(),
      request,
    };
    const order = readOrder({ kind, request, created_at: clock() }, deps);
    const bytes = await bytesFor(deps, preparation, { intent, order }, submitted);
    // One commit: the preparation's only submission, the intent, its only bytes, and the fact.
    const committed = await pool.transaction(async (tx) => {
      if (!(await submitPreparation(tx, preparation, { message, txHash: bytes.signature }))) return null;
      const [inserted = null] = await insertIntents(tx, [intent], workerId);
      if (inserted === null) throw new Error('an open preparation has an intent already');
      const move = { intentId: intent.intent_id, generation: 1, traceparent: intent.traceparent };
      const fact = signedFact(intent, { generation: 1, signature: bytes.signature });
      const [rows] = await commitSigned(tx, [{ ...move, message: fact, signed: bytes }]);
      return { inserted, rows: rows ?? [] };
    });
    if (committed === null) return ended(await findPreparation(pool, preparation_id), message);
    relay.dispatch(committed.rows);
    await failpoint('submitter.afterCommit');
    if (flights.begin(intent.intent_id)) {
      launch(deps, flightOf({ ...committed.inserted, status: 'signed' }, order, { ...bytes, generation: 1 }));
    }
    return { tx_hash: bytes.signature };
  };
