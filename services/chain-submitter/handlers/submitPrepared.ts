import bs58 from 'bs58';
import type { chainSubmitter } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from '../caps.ts';
import type { Deps } from '../deps.ts';
import { errorKind } from '../domain/failure.ts';
import { flightOf, launch } from '../launch.ts';
import { type DelegationRequest, readOrder } from '../orders.ts';
import { checkPrepared } from '../prepared.ts';
import { progressMessage } from '../progress.ts';
import { reading } from '../reading.ts';
import { commitSigned, type IntentRow, insertIntent } from '../store/intents.ts';
import { findPreparation, type PreparationRow, submitPreparation } from '../store/preparations.ts';
import { assemble, decodeMessage } from '../wire.ts';

const conflict = (message: string) => new ServiceError('conflict', message, { money_moved: 'no' });

/** The answer of a preparation that was submitted: the same for the same bytes, a conflict for others. */
const repeated = (preparation: PreparationRow, message: Uint8Array): { tx_hash: string } => {
  const { tx_hash, submitted_message } = preparation;
  if (tx_hash === null || submitted_message === null || !submitted_message.equals(message))
    throw conflict('another signed transaction of this preparation was submitted');
  return { tx_hash };
};

/** Simulates the message without any signature of ours. */
const simulate = async (deps: Deps, message: Uint8Array, creates: boolean): Promise<void> => {
  const { signers } = decodeMessage(message);
  const unsigned = assemble(
    message,
    signers.map(() => null),
  );
  const error = await reading(deps.rpc.simulate(unsigned));
  if (error === null) return;
  if (errorKind(error, { creates }) === 'stale')
    throw conflict('the transaction has expired, prepare it again');
  if (errorKind(error, { creates }) === 'proven')
    throw new ServiceError('payment_failed', 'the chain would refuse the transaction', { money_moved: 'no' });
  deps.logger.error({ simulation: error }, 'the fee payer or a provider is in trouble');
  throw new ServiceError('service_unavailable', 'not available right now', { retryAfterSeconds: 5 });
};

/**
 * Checks signed bytes against their preparation, simulates, commits them co-signed as the only generation of their
 * intent, and broadcasts. A repeat of the call gives the same hash; another submission is a conflict.
 */
export const submitPrepared =
  (deps: Deps): Handler<typeof chainSubmitter.internal.submitPrepared> =>
  async ({ preparation_id, transaction }) => {
    const { pool, signers, rpc, network, flights, relay, workerId, caps } = deps;
    const preparation = await findPreparation(pool, preparation_id);
    if (preparation === null) throw conflict('no such preparation');
    const { message, signature } = checkPrepared(
      preparation.message,
      Buffer.from(transaction, 'base64'),
      preparation.owner,
    );
    if (preparation.status === 'submitted') return repeated(preparation, message);
    if (preparation.status === 'replaced') throw conflict('a newer preparation has replaced this one');
    const height = await reading(rpc.first((provider) => provider.blockHeight('confirmed')));
    if (BigInt(height) > preparation.last_valid_block_height)
      throw conflict('the transaction has expired, prepare it again');
    await simulate(deps, message, preparation.creates);
    if (preparation.creates && !(await caps.takeLamports(TOKEN_ACCOUNT_LAMPORTS)))
      throw new ServiceError('service_unavailable', 'not available right now', { retryAfterSeconds: 60 });

    const own = await signers.feePayer.sign(message);
    await failpoint('submitter.afterSign');
    const txHash = bs58.encode(own);
    const wire = assemble(message, [own, signature]);
    const lastValidBlockHeight = Number(preparation.last_valid_block_height);
    const { account_id, owner, authority, allowance } = preparation;
    const intent: Pick<IntentRow, 'intent_id' | 'kind' | 'object_id' | 'traceparent' | 'request'> = {
      intent_id: `delegation:${preparation_id}`,
      kind: 'delegation',
      object_id: preparation_id,
      traceparent: null,
      request: {
        preparation_id,
        account_id,
        owner,
        authority,
        allowance: allowance === null ? null : formatMicro(allowance),
      } satisfies ReturnType<typeof DelegationRequest.parse>,
    };
    // One commit: the preparation's only submission, the intent, its only bytes, and the fact.
    const committed = await pool.transaction(async (tx) => {
      if (!(await submitPreparation(tx, preparation, { message, txHash }))) return null;
      const inserted = await insertIntent(tx, intent, workerId);
      if (inserted === null) throw new Error('an open preparation has an intent already');
      const signed = { status: 'signed', generation: 1, tx_hash: txHash, slot: null, failure: null } as const;
      const move = { intentId: intent.intent_id, generation: 1, traceparent: null };
      const rows = await commitSigned(
        tx,
        { ...move, message: progressMessage(intent, signed) },
        {
          signature: txHash,
          wire,
          lastValidBlockHeight,
          creates: preparation.creates ? owner : null,
          signBefore: null,
        },
      );
      return { inserted, rows };
    });
    if (committed === null) {
      const now = await findPreparation(pool, preparation_id);
      if (now?.status === 'submitted') return repeated(now, message);
      throw conflict('a newer preparation has replaced this one');
    }
    relay.dispatch(committed.rows);
    await failpoint('submitter.afterCommit');
    if (flights.begin(intent.intent_id)) {
      const order = readOrder(committed.inserted, { ...deps, network });
      const bytes = { signature: txHash, wire, lastValidBlockHeight, generation: 1 };
      launch(deps, flightOf({ ...committed.inserted, status: 'signed' }, order, bytes));
    }
    return { tx_hash: txHash };
  };
