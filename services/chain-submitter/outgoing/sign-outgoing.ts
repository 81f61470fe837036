import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import type { chainSubmitter, OutgoingReason } from '../../../shared/contract/chain-submitter.ts';
import { conflict, ServiceError } from '../../../shared/contract/errors.ts';
import { readKnown } from '../../../shared/contract/read.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reservation } from '../../../shared/db/budget.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import { assemble, hashMessage } from '../../../shared/lib/chain/wire-transaction.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { isUniqueViolation } from '../broadcast/broadcast.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Blockhash, RpcPool } from '../chain/rpc-pool.ts';
import type { TokenAccounts } from '../chain/token-accounts.ts';
import { outgoingIntentId } from '../ledger/intent-id.ts';
import type { Network } from '../ledger/model/network.ts';
import { type IntentRow, insertOutgoingIntent, type NewOutgoing } from '../ledger/store/intents.ts';
import { findMessage, insertMessage, type OutgoingMessage } from '../ledger/store/messages.ts';
import { isStopped } from '../ledger/store/settings.ts';
import { type Caps, countedAt } from '../limits/spending-caps.ts';
import { commitWithin } from '../payments/commit-within.ts';
import { type IntentReader, signOnce } from '../payments/sign-once.ts';
import { signForCaller } from '../signing/sign-for-caller.ts';
import { type Signers, signFor } from '../signing/signer.ts';
import { OutgoingRequest } from '../transactions/parse-order.ts';
import { checkBalances } from './balances.ts';
import { adoptLost } from './lost-payment.ts';
import { adoptOrRefuse } from './lost-record.ts';
import { buildOutgoingMessage } from './message.ts';
import { checkOutgoingPolicy, checkParties } from './policy.ts';
import { refuse } from './refusal.ts';
import { grossOf, type OutgoingTerms, termsOf } from './terms.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  clock: Clock;
  logger: Logger;
  network: Network;
  rpc: RpcPool;
  tokenAccounts: Pick<TokenAccounts, 'list'>;
  signers: Signers;
  caps: Caps;
  readIntent: IntentReader;
};
type Input = z.infer<typeof chainSubmitter.internal.signOutgoing.input>;
type Answer = Exclude<z.infer<typeof chainSubmitter.internal.signOutgoing.output>, { outcome: 'refused' }>;

/** The time of a slot, after which a new blockhash is finalized. */
const SLOT_MS = 400;
const MAX_TRIES = 4;

const requestOf = ({
  payment_attempt_id: _,
  message_hash: __,
  accepted_at: ___,
  lost: ____,
  ...request
}: Input): OutgoingRequest => request;

/** Whether a stored request asks for the same payment, whatever its settlement is called. */
const isSamePayment = (stored: unknown, request: OutgoingRequest): boolean => {
  const parsed = readKnown(OutgoingRequest, stored);
  if (!parsed.success) return false;
  const { capped_at: _, ...same } = parsed.data;
  return isDeepStrictEqual({ ...same, settlement_id: request.settlement_id }, request);
};

/**
 * Bytes of another payment must not get the id of this one, whose hold they would outlive.
 * @throws ServiceError conflict
 */
const compare = async ({ pool }: Deps, { intent_id, request }: IntentRow, input: Input): Promise<void> => {
  if (isSamePayment(request, requestOf(input)) || (await findMessage(pool, intent_id)) === null) return;
  throw conflict('the payment_attempt_id has signed another payment; use a new one');
};

/**
 * The bytes are answered in every state, because a payer that has them already loses nothing.
 */
const answerSigned = async (
  { pool, network }: Deps,
  { intent_id, signature }: IntentRow,
  input: Input,
): Promise<Answer | null> => {
  const message = await findMessage(pool, intent_id);
  return (
    message && {
      outcome: 'signed',
      transaction: message.wire.toString('base64'),
      message_hash: message.message_hash,
      source_account: termsOf(intent_id, requestOf(input), network.mint).source,
      tx_hash: signature,
    }
  );
};

/** Reserves the amount of the hourly caps, as a payment of a quote does. */
const reserve = async (
  { caps }: Deps,
  input: Input,
  { amountMicro, at }: { amountMicro: bigint; at: number },
): Promise<Reservation> => {
  const payer = { wallet: input.owner, accountId: input.account_id };
  const reserved = await caps.reserveMicro(payer, amountMicro, at);
  if (!('reached' in reserved)) return reserved;
  count('quittance_cap_refusals_total', 1, { cap: reserved.reached });
  return refuse(
    'budget_exhausted',
    `the hourly cap of the ${reserved.reached} is reached; pay again in the next hour`,
  );
};

/** Builds, checks and signs the message. The fee payer's signature stays empty. */
const signMessage = async (
  { signers, network: { mint } }: Deps,
  terms: OutgoingTerms,
  { blockhash, lastValidBlockHeight }: Blockhash,
): Promise<OutgoingMessage> => {
  const message = buildOutgoingMessage(terms, { mint, blockhash });
  checkOutgoingPolicy(message, terms, mint);
  const [signature] = await signForCaller(signFor(signers, [terms.authority], message));
  return {
    message_hash: hashMessage(message),
    wire: assemble(message, [null, signature!]),
    last_valid_block_height: lastValidBlockHeight,
  };
};

/**
 * Commits a payment with its only bytes, after which they may be handed out.
 * @returns false when the attempt has an intent
 * @throws a unique violation when another payment has this message
 */
const commit = ({ pool }: Deps, intent: NewOutgoing, message: OutgoingMessage): Promise<boolean> =>
  pool.transaction(async (tx) => {
    const isNew = await insertOutgoingIntent(tx, intent);
    if (isNew) await insertMessage(tx, intent.intent_id, message);
    return isNew;
  });

/** Signs and commits a payment, unless it has an intent by then. @throws PaymentRefusal */
const signAndCommit = async (
  deps: Deps,
  intentId: string,
  input: Input,
): Promise<'done' | 'same message'> => {
  const request = requestOf(input);
  const terms = termsOf(intentId, request, deps.network.mint);
  checkParties(terms, deps.network);
  const [paused, latest] = await Promise.all([
    isStopped(deps.pool),
    // The vendor's provider knows a blockhash that is finalized.
    readForCaller(deps.rpc.latestBlockhash('finalized')),
    checkBalances(deps, terms),
  ]);
  if (paused) refuse('signing_paused', 'the operator has paused payments; pay again later');
  const at = countedAt(Date.parse(input.accepted_at), deps.clock());
  const reservation = await reserve(deps, input, { amountMicro: grossOf(terms), at });
  const traceparent = activeTraceparent();
  const intent = {
    intent_id: intentId,
    object_id: input.settlement_id,
    request: { ...request, capped_at: isoTime(at) },
    traceparent,
  };
  try {
    await commitWithin(reservation, {
      sign: () => signMessage(deps, terms, latest),
      commit: (message) => commit(deps, intent, message),
      isRefused: isUniqueViolation,
    });
    return 'done';
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return 'same message';
  }
};

/**
 * Two equal payments with the memo of their vendor and one blockhash would be one transaction. The
 * second one is signed with the next blockhash.
 * @throws PaymentRefusal; ServiceError service_unavailable while other equal payments take each
 *   blockhash
 */
const signDistinct = async (deps: Deps, intentId: string, input: Input): Promise<void> => {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    if (tries > 0) await sleep(SLOT_MS);
    if ((await signAndCommit(deps, intentId, input)) !== 'same message') return;
  }
  throw new ServiceError('service_unavailable', 'equal payments are being signed; repeat the call', {
    money_moved: 'no',
    safe_action: 'retry_same_attempt',
    retryAfterSeconds: 2,
  });
};

/** Adopts the payment of an attempt whose record is lost, if the chain has it. */
const adopt = async (
  deps: Deps,
  intentId: string,
  input: Input,
): Promise<'adopted' | 'none' | { outcome: 'undecided' }> => {
  const { message_hash, settlement_id, accepted_at: since } = input;
  const request = requestOf(input);
  if (message_hash === null || message_hash === undefined) {
    const lost = await adoptLost(deps, { intentId, request }, input.lost);
    return lost === 'undecided' ? { outcome: lost } : lost;
  }
  await adoptOrRefuse(deps, { message_hash, settlement_id }, intentId, { request, since });
  return 'adopted';
};

/**
 * Signs an outgoing payment with the delegate authority and commits it before it is answered. The
 * vendor's fee payer signs and sends it. A repeated or concurrent call gets the same bytes.
 */
export const signOutgoing =
  (deps: Deps): Handler<typeof chainSubmitter.internal.signOutgoing> =>
  (input) => {
    const intentId = outgoingIntentId(input);
    return signOnce<Answer, OutgoingReason>(deps, {
      kind: 'outgoing',
      intentId,
      settlementId: input.settlement_id,
      compare: (intent) => compare(deps, intent, input),
      answerSigned: (intent) => answerSigned(deps, intent, input),
      signAndCommit: async () => {
        await signDistinct(deps, intentId, input);
        return null;
      },
      adoptLost: () => adopt(deps, intentId, input),
      choosesBytes: true,
    });
  };
