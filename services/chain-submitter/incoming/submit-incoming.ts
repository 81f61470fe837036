import { setTimeout as sleep } from 'node:timers/promises';
import bs58 from 'bs58';
import type { z } from 'zod';
import type { chainSubmitter, IncomingReason } from '../../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Reservation } from '../../../shared/db/budget.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import type { Outbox } from '../../../shared/events/relay.ts';
import {
  assemble,
  hashMessage,
  isIncomplete,
  messageHashOf,
  messageOf,
} from '../../../shared/lib/chain/wire-transaction.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { broadcast } from '../broadcast/broadcast.ts';
import { type InFlightTransactions, toInFlight } from '../broadcast/in-flight.ts';
import { readForCaller } from '../chain/read-for-caller.ts';
import type { Pause, RpcPool } from '../chain/rpc-pool.ts';
import type { Executor } from '../execution/executor.ts';
import { incomingIntentId } from '../ledger/intent-id.ts';
import type { Network } from '../ledger/model/network.ts';
import type { IncomingOrder } from '../ledger/model/order.ts';
import { intents } from '../ledger/model/state.ts';
import type { Generation } from '../ledger/store/commit-signed.ts';
import type { IntentRow } from '../ledger/store/intents.ts';
import { isCommitted, listTransactions } from '../ledger/store/transactions.ts';
import { BudgetUsedUp } from '../limits/fee-budgets.ts';
import type { IncomingCaps } from '../limits/incoming-caps.ts';
import { incomingLamports } from '../limits/lamports.ts';
import type { OwnBudgets } from '../limits/own-budgets.ts';
import { commitWithin } from '../payments/commit-within.ts';
import { answerRefusal, PaymentRefusal } from '../payments/refusal.ts';
import { type IntentReader, signOnce } from '../payments/sign-once.ts';
import { signForCaller } from '../signing/sign-for-caller.ts';
import { type Signers, signFor } from '../signing/signer.ts';
import type { IncomingRequest } from '../transactions/parse-order.ts';
import type { IncomingCommit, IncomingIntent } from './group-commit.ts';
import { checkLimits, readLimits } from './limits.ts';
import { adoptLost, searchedOf } from './lost-payment.ts';
import { refuse } from './refusal.ts';
import type { SharedReads } from './shared-reads.ts';
import type { SignedPayment, SignedPayments } from './signed-payment.ts';
import type { Simulations } from './simulations.ts';
import { readExactSourceBalance, type SourceBalance } from './source-balance.ts';
import { hasRoom } from './store/intents.ts';
import { getVendorRoom, type VendorLimits } from './store/vendor-room.ts';

type Deps = {
  pool: Pool;
  relay: Outbox;
  clock: Clock;
  logger: Logger;
  incomingCommit: IncomingCommit;
  network: Network;
  rpc: RpcPool;
  signers: Signers;
  simulations: Simulations;
  readIntent: IntentReader;
  signedPayments: SignedPayments;
  sharedReads: SharedReads;
  ownBudgets: Pick<OwnBudgets, 'incomingFees'>;
  /** How many payments to a vendor account may fail on the chain in a UTC day. */
  limits: VendorLimits;
  incomingCaps: IncomingCaps;
  inFlight: InFlightTransactions;
  executor: Pick<Executor, 'executeNow'>;
  workerId: string;
  /** Waits for others of the source. Default: real time. */
  pause?: Pause;
};

type Input = z.infer<typeof chainSubmitter.internal.submitIncoming.input>;
type Submitted = { outcome: 'submitted'; tx_hash: string; transaction?: string };

const NO_BYTES = new Uint8Array();

/** A buyer that signs last gets the bytes. */
const submitted = (signature: string, wire: Uint8Array): Submitted => ({
  outcome: 'submitted',
  tx_hash: signature,
  ...(isIncomplete(wire) && { transaction: Buffer.from(wire).toString('base64') }),
});

/** What each cap bounds, as the refusal names it. */
const CAPS = { incoming_source: 'paying token account', incoming_account: 'vendor', incoming: 'environment' };

/** Reserves the fees of the vendor's budget, and the amount of the hourly caps. */
const reserve = async (
  { ownBudgets, incomingCaps }: Deps,
  { source, totalMicro, priorityFeeLamports, signature }: SignedPayment,
  { vendor, at }: { vendor: string; at: number },
): Promise<Reservation> => {
  const fees = await ownBudgets.incomingFees
    .reserve(vendor, incomingLamports(priorityFeeLamports))
    .catch((error: unknown) => {
      if (!(error instanceof BudgetUsedUp)) throw error;
      return refuse('budget_exhausted', `${error.message}; it refills at midnight UTC`);
    });
  const reserved = await incomingCaps
    .reserve({ source, accountId: vendor, signsLast: signature === null }, totalMicro, at)
    .catch((error: unknown) => {
      fees.release();
      throw error;
    });
  if ('reached' in reserved) {
    fees.release();
    count('quittance_cap_refusals_total', 1, { cap: reserved.reached });
    const of = CAPS[reserved.reached];
    return refuse('budget_exhausted', `the hourly cap of the ${of} is reached; pay again in the next hour`);
  }
  return {
    release: () => {
      fees.release();
      reserved.release();
    },
  };
};

/** Signs the message as the fee payer that it names. A former fee payer signs too. */
const signMessage = async (
  { signers }: Deps,
  { message, feePayer, signature }: SignedPayment,
  lastValidBlockHeight: number,
): Promise<Generation> => {
  const [own] = await signForCaller(signFor(signers, [feePayer], message));
  return {
    generation: 1,
    signature: bs58.encode(own!),
    wire: assemble(message, [own!, signature]),
    lastValidBlockHeight,
    creates: null,
    signBefore: null,
  };
};

/**
 * The source or the vendor has as many payments under way as it may have. Nothing of this one was
 * committed.
 */
class TooManyUnderWay extends Error {
  override name = 'TooManyUnderWay';
  readonly reason: IncomingReason;
  /** Whether one more may be under way now. */
  readonly hasRoom: () => Promise<boolean>;
  constructor(
    of: string,
    { reason, hasRoom }: { reason: IncomingReason; hasRoom: TooManyUnderWay['hasRoom'] },
  ) {
    super(`as many payments ${of} are under way as it may have`);
    this.reason = reason;
    this.hasRoom = hasRoom;
  }
}

/** Whether nothing was committed. Any other error leaves that unknown. */
const isRefusal = (error: unknown): boolean =>
  error instanceof PaymentRefusal || error instanceof ServiceError || error instanceof TooManyUnderWay;

/**
 * Commits the payment within its source's balance. A payment that is not covered is compared with
 * an exact balance before it is refused.
 * @returns false when the message has an intent already
 */
const commit = async (
  deps: Deps,
  intent: IncomingIntent,
  { payment, signed, alone }: { payment: SignedPayment; signed: Generation; alone: boolean },
  balance: SourceBalance,
): Promise<boolean> => {
  const { source, totalMicro } = payment;
  const bytes = { intent, source, alone, totalMicro, signed };
  try {
    let outcome = await deps.incomingCommit({ ...bytes, balance });
    if (outcome === 'not_covered')
      outcome = await deps.incomingCommit({
        ...bytes,
        balance: await readExactSourceBalance(deps, payment),
      });
    if (outcome === 'not_covered')
      return refuse('insufficient_funds', 'other payments need the balance of the paying account');
    const { intent_id: intentId, request } = intent;
    if (outcome === 'too_many')
      throw new TooManyUnderWay('of the paying token account', {
        reason: 'source_blocked',
        hasRoom: () => hasRoom(deps.pool, { intentId, source, alone, last: payment.signature === null }),
      });
    if (outcome === 'too_many_of_vendor')
      throw new TooManyUnderWay('to the vendor', {
        reason: 'budget_exhausted',
        hasRoom: async () => (await getVendorRoom(deps.pool, request.account_id, deps.limits)).room > 0n,
      });
    if (outcome === 'exists') return false;
    deps.relay.dispatch(outcome);
    return true;
  } catch (error) {
    if (isRefusal(error)) throw error;
    // The answer to the commit was lost. Bytes without a row are not sent.
    const { intent_id } = intent;
    deps.logger.warn({ err: error, intent: intent_id }, 'commit of signed bytes unclear, reading the row');
    if (!(await isCommitted(deps.pool, { intentId: intent_id, signature: signed.signature }))) throw error;
    return true;
  }
};

const requestOf = (
  { settlement_id, account_id }: Input,
  payment: SignedPayment,
  now: number,
): IncomingRequest => ({
  settlement_id,
  account_id,
  authority: payment.authority,
  source_account: payment.source,
  legs: payment.legs.map(({ destination, amountMicro }) => ({
    token_account: destination,
    amount: formatMicro(amountMicro),
  })),
  amount: formatMicro(payment.totalMicro),
  capped_at: isoTime(now),
  ...(payment.byOutcome && { by_outcome: true as const }),
  ...(payment.signature === null && {
    signs_last: true as const,
    lamports: String(incomingLamports(payment.priorityFeeLamports)),
  }),
});

/** @returns null when the message has an intent already */
const submit = async (deps: Deps, input: Input): Promise<Submitted | null> => {
  const payment = await deps.signedPayments.read(input);
  const { authority, source, legs, byOutcome } = payment;
  const slot = await deps.simulations.simulateUnlessFresh(payment);
  // A provider that has reached the slot knows the blockhash, so it is no newer than this height.
  const height = deps.sharedReads.lastValid(slot);
  const [limits, lastValid] = await Promise.all([
    readLimits(deps, payment, input.account_id),
    readForCaller(height),
  ]);
  checkLimits(limits, payment);

  const now = deps.clock();
  const intent: IncomingIntent = {
    intent_id: incomingIntentId(payment.messageHash),
    kind: 'incoming',
    object_id: input.settlement_id,
    traceparent: activeTraceparent(),
    request: requestOf(input, payment, now),
  };
  const { alone, balance } = limits;
  const reservation = await reserve(deps, payment, { vendor: input.account_id, at: now });
  const signed = await commitWithin(reservation, {
    sign: () => signMessage(deps, payment, lastValid),
    commit: (bytes) => commit(deps, intent, { payment, signed: bytes, alone }, balance),
    isRefused: isRefusal,
  });
  if (signed === null) return null;
  const order: IncomingOrder = {
    kind: 'incoming',
    accountId: input.account_id,
    authority,
    source,
    legs,
    byOutcome,
    since: deps.clock(),
  };
  if (deps.inFlight.begin(intent.intent_id)) {
    broadcast(deps, toInFlight(intent, order, signed));
  }
  return submitted(signed.signature, signed.wire);
};

/** Adopts the payment of a message that is on the chain. */
const adopt = async (
  deps: Deps,
  { transaction, settlement_id, account_id, lost_since: since = null }: Input,
): Promise<'adopted' | 'none'> => {
  const message = since === null ? null : messageOf(transaction);
  const source = message === null ? null : searchedOf(message);
  if (since === null || message === null || source === null) return 'none';
  const payment = { settlementId: settlement_id, accountId: account_id };
  const lost = { messageHash: hashMessage(message), source, since };
  return (await adoptLost(deps, payment, lost)) ? 'adopted' : 'none';
};

/**
 * How long a payment waits for others of its source or vendor. A confirmation takes about a second.
 */
const WAIT_MS = 6000;
const LEAST_PAUSE_MS = 250;
const MOST_PAUSE_MS = 1000;

/** Submits a payment, after others of its source or vendor if it has too many under way. */
const submitInTurn = async (deps: Deps, input: Input): Promise<Submitted | null> => {
  const until = performance.now() + WAIT_MS;
  let pauseMs = LEAST_PAUSE_MS;
  for (;;) {
    try {
      return await submit(deps, input);
    } catch (error) {
      if (!(error instanceof TooManyUnderWay)) throw error;
      do {
        if (performance.now() > until) refuse(error.reason, `${error.message}; pay when one is confirmed`);
        await (deps.pause ?? sleep)(pauseMs);
        pauseMs = Math.min(2 * pauseMs, MOST_PAUSE_MS);
      } while (!(await error.hasRoom()));
    }
  }
};

/** The answer with the bytes of an intent. That of a dead worker is executed at once. */
const answerSigned = async (
  { pool, inFlight, executor }: Deps,
  { intent_id, signature, status, request }: IntentRow,
): Promise<Submitted | null> => {
  if (signature === null) return null;
  if (!intents.isTerminal(status) && !inFlight.has(intent_id)) await executor.executeNow(intent_id);
  const { signs_last } = request as Partial<IncomingRequest>;
  const [bytes] = signs_last ? await listTransactions(pool, intent_id) : [];
  return submitted(signature, bytes?.wire ?? NO_BYTES);
};

/**
 * Checks a transaction of another client, commits it co-signed as the only generation of its
 * intent, and broadcasts it. A repeated or concurrent call gets the same transaction.
 */
export const submitIncoming =
  (deps: Deps): Handler<typeof chainSubmitter.internal.submitIncoming> =>
  (input) =>
    answerRefusal(async () => {
      const hash = messageHashOf(input.transaction);
      if (hash === null) return refuse('transaction_could_not_be_decoded', 'the bytes hold no message');
      return signOnce<Submitted, IncomingReason>(deps, {
        kind: 'incoming',
        intentId: incomingIntentId(hash),
        settlementId: input.settlement_id,
        // The message is the payment, so no other one has its intent.
        compare: async () => {},
        answerSigned: (intent) => answerSigned(deps, intent),
        signAndCommit: () => submitInTurn(deps, input),
        adoptLost: () => adopt(deps, input),
        choosesBytes: false,
        signsLast: input.signs_last === true,
      });
    });
