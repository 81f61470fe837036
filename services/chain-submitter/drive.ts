import { SpanKind } from '@opentelemetry/api';
import bs58 from 'bs58';
import { failpoint } from '../../shared/lib/failpoint.ts';
import { count } from '../../shared/lib/metrics.ts';
import { inSpan, inTraceOf } from '../../shared/lib/trace.ts';
import { TOKEN_ACCOUNT_LAMPORTS } from './caps.ts';
import type { Deps } from './deps.ts';
import {
  type ChainError,
  EXPIRED,
  errorKind,
  type Failure,
  otherFailure,
  RETIRED,
  settleFailure,
  TOO_LATE,
} from './domain/failure.ts';
import { isUserSigned, type Order, type OwnOrder, type SettleOrder } from './domain/order.ts';
import type { TokenAccount } from './domain/token-account.ts';
import { findPaid } from './found.ts';
import { commitAndLaunch, flightOf, launch } from './launch.ts';
import { move } from './moves.ts';
import { OrderRefused, readOrder } from './orders.ts';
import { planOf } from './plan.ts';
import { checkPolicy, PolicyError, signersOf } from './policy.ts';
import { signFor } from './signer.ts';
import { type ClaimedIntent, claimIntents, parkIntent } from './store/intents.ts';
import { assemble, compileMessage } from './wire.ts';

const TRIES = 3;
/** Waits before an intent is taken up again: trouble with providers or our own purse, the pause, a used-up cap. */
const TROUBLE_MS = 1000;
const PAUSED_MS = 2000;
const CAPPED_MS = 15_000;

export type DriveDeps = Omit<Deps, 'driver'>;
/** Whoever looks next sees why: bytes of another hand, the end, or that it is too late. */
const NOT_COMMITTED = { waitMs: TROUBLE_MS };

/** What becomes of an intent for now. */
type Outcome = { failure: Failure } | { waitMs: number } | 'launched' | 'over';
type Verdict = Outcome | { approved: SettleOrder } | 'again';

/** The order by the authority of ours that the payer has approved; null when it is the order's own, or none of ours. */
const byApproved = (
  { network }: Pick<DriveDeps, 'network'>,
  order: SettleOrder,
  source: TokenAccount,
): SettleOrder | null => {
  const authority = source.state === 'ready' ? source.delegate : null;
  return authority !== null &&
    authority !== order.authority &&
    network.delegateAuthorities.includes(authority)
    ? { ...order, authority }
    : null;
};

/** What a refused simulation means: nothing was signed, so a proven refusal ends the intent at once. */
const refused = async (
  deps: DriveDeps,
  order: OwnOrder,
  error: ChainError,
  creates: boolean,
): Promise<Verdict> => {
  const { chain, logger } = deps;
  const kind = errorKind(error, { creates });
  if (kind === 'stale') {
    chain.forgetBlockhash();
    return 'again';
  }
  if (kind === 'ours') {
    logger.error({ simulation: error, kind: order.kind }, 'the fee payer or a provider is in trouble');
    return { waitMs: TROUBLE_MS };
  }
  if (order.kind !== 'settle') return { failure: otherFailure(order.kind, error) };
  const [source, payout] = await Promise.all([
    chain.tokenAccount(order.payer),
    chain.tokenAccount(order.payout),
  ]);
  // It was ready when it was last looked at, and is gone: plan again.
  if (!creates && payout.account.state === 'missing') return 'again';
  // Approved anew a moment ago, and the job does not know it yet.
  const approved = byApproved(deps, order, source.account);
  return approved === null ? { failure: settleFailure(error, source.account, order) } : { approved };
};

/** The chain knows the payment already: it is watched as this intent's, or another's it is. */
const takeOver = async (
  deps: DriveDeps,
  intent: ClaimedIntent,
  order: Order,
  paid: NonNullable<Awaited<ReturnType<typeof findPaid>>>,
): Promise<Outcome> => {
  if (paid === 'by another')
    return { failure: { code: 'payment_failed', message: 'the quote is paid already' } };
  count('settle.anomalies', 1, { kind: 'found_paid' });
  deps.logger.error({ intent: intent.intent_id, tx: paid.signature }, 'found paid on chain, taken over');
  const adopted = { ...paid, wire: new Uint8Array(), creates: null, signBefore: null };
  return (await commitAndLaunch(deps, intent, order, adopted)) ? 'launched' : NOT_COMMITTED;
};

/** Nothing may be signed any more. What was paid and then forgotten here is no failure all the same. */
const ended = async (
  deps: DriveDeps,
  intent: ClaimedIntent,
  order: Order,
  failure: Failure,
): Promise<Outcome> => {
  const paid = await findPaid(deps, intent, order);
  return paid === null ? { failure } : takeOver(deps, intent, order, paid);
};

/**
 * Signs the next generation of an order: plan, build, check, simulate unsigned, sign, commit, and only then send
 * (rules 7 to 13).
 */
const attempt = async (deps: DriveDeps, intent: ClaimedIntent, order: OwnOrder): Promise<Verdict> => {
  const { chain, network, caps, logger, rpc } = deps;
  const [plan, latest] = await Promise.all([planOf(deps, order), chain.blockhash()]);
  if ('failure' in plan) return plan;
  if ('done' in plan) {
    const found = { intent, generation: intent.generation, txHash: null };
    await move(deps, 'confirm', [found]);
    await move(deps, 'finalize', [found]);
    return 'over';
  }
  const { feePayer } = network;
  const message = compileMessage(plan.instructions, { feePayer, blockhash: latest.blockhash });
  checkPolicy(message, order, network);

  const signers = signersOf(order, network);
  const unsigned = assemble(
    message,
    Array.from(signers, () => null),
  );
  const [error, paid] = await Promise.all([rpc.simulate(unsigned), findPaid(deps, intent, order)]);
  if (paid !== null) return takeOver(deps, intent, order, paid);
  if (error !== null) return refused(deps, order, error, plan.creates !== null);

  const settles = order.kind === 'settle';
  if (settles && !(await caps.takeMicro(order.payer, order.grossMicro))) {
    logger.error({ intent: intent.intent_id, wallet: order.payer }, 'hourly cap reached, the payment waits');
    return { waitMs: CAPPED_MS };
  }
  // A settle's account was granted when its quote was made: it is counted, and never waits for a budget that others
  // have used up. Without a budget there are no new quotes that need one (handlers/reserveTokenAccount.ts).
  if (plan.creates !== null && !(await caps.takeLamports(TOKEN_ACCOUNT_LAMPORTS)) && !settles) {
    logger.error({ intent: intent.intent_id }, 'daily lamport budget used up, the work waits');
    return { waitMs: CAPPED_MS };
  }
  const signatures = await signFor(deps.signers, signers, message);
  await failpoint('submitter.afterSign');
  const signed = {
    signature: bs58.encode(signatures[0]!),
    wire: assemble(message, signatures),
    lastValidBlockHeight: latest.lastValidBlockHeight,
    creates: plan.creates,
    signBefore: order.signBefore,
  };
  return (await commitAndLaunch(deps, intent, order, signed)) ? 'launched' : NOT_COMMITTED;
};

const decide = async (deps: DriveDeps, intent: ClaimedIntent): Promise<Outcome> => {
  const { signature, wire, last_valid_block_height: lastValid, generation } = intent;
  let order: Order | null = null;
  let refusal: Failure | null = null;
  try {
    order = readOrder(intent, deps);
  } catch (error) {
    if (!(error instanceof OrderRefused)) throw error;
    refusal = error.failure;
  }
  // Bytes that may land come first, whatever has become of the order: the same ones again, never others.
  if (signature !== null && wire !== null && lastValid !== null) {
    const bytes = { signature, wire, generation, lastValidBlockHeight: Number(lastValid) };
    launch(deps, flightOf(intent, order, bytes));
    return 'launched';
  }
  if (order === null) return { failure: refusal! };
  // The owner signed one message; another generation would need another signature of theirs.
  if (isUserSigned(order)) return ended(deps, intent, order, EXPIRED);
  // It may have paid while its key was here, before this record was lost: the chain is asked all the same.
  if (order.kind === 'settle' && !deps.network.delegateAuthorities.includes(order.authority)) {
    const approved = byApproved(deps, order, (await deps.chain.tokenAccount(order.payer)).account);
    if (approved === null) return ended(deps, intent, order, RETIRED);
    order = approved;
  }
  for (let tries = 0; tries < TRIES; tries++) {
    if (intent.read_at > order.signBefore) return ended(deps, intent, order, TOO_LATE);
    if (intent.paused) return { waitMs: PAUSED_MS };
    const verdict = await attempt(deps, intent, order);
    if (typeof verdict === 'object' && 'approved' in verdict) order = verdict.approved;
    else if (verdict !== 'again') return verdict;
  }
  return { waitMs: TROUBLE_MS };
};

/**
 * The driver: takes leased intents and brings each to bytes in flight, to its end, or back to rest. It never
 * rejects; what goes wrong is logged and tried again by the sweeper.
 */
export const createDriver = (deps: DriveDeps) => {
  const { flights, pool, logger, workerId } = deps;
  const running = new Set<Promise<void>>();

  const rest = async (intentId: string, delayMs: number): Promise<void> => {
    await parkIntent(pool, intentId, workerId, delayMs).catch((error: unknown) =>
      logger.warn({ err: error, intent: intentId }, 'could not be given back, its lease runs out'),
    );
    flights.end(intentId);
  };

  const run = async (intent: ClaimedIntent): Promise<void> => {
    const { intent_id: intentId } = intent;
    try {
      const verdict = await decide(deps, intent);
      if (verdict === 'launched') return;
      if (typeof verdict === 'object' && 'failure' in verdict) {
        const { generation, tx_hash: txHash } = intent;
        await move(deps, 'fail', [{ intent, generation, txHash, failure: verdict.failure }]);
        logger.info({ intent: intentId, failure: verdict.failure }, 'failed, nothing moved');
        flights.end(intentId);
      } else if (typeof verdict === 'object') await rest(intentId, verdict.waitMs);
      else flights.end(intentId);
    } catch (error) {
      if (error instanceof PolicyError) {
        count('settle.anomalies', 1, { kind: 'policy_refused' });
        logger.fatal({ err: error, intent: intentId }, 'refused by policy');
      } else logger.warn({ err: error, intent: intentId }, 'driving failed, tried again');
      await rest(intentId, error instanceof PolicyError ? CAPPED_MS : TROUBLE_MS);
    }
  };

  const drive = (intent: ClaimedIntent): void => {
    if (!flights.begin(intent.intent_id)) return;
    const { kind, generation, traceparent } = intent;
    const attributes = { 'quittance.generation': generation };
    const work = inTraceOf(traceparent, () =>
      inSpan(`drive ${kind}`, { kind: SpanKind.INTERNAL, attributes }, () => run(intent)),
    ).finally(() => running.delete(work));
    running.add(work);
  };

  return {
    drive,
    /** Leases one intent now, if nobody else has it, and drives it. */
    driveNow: async (intentId: string): Promise<void> => {
      const claimed = await claimIntents(pool, {
        workerId,
        driving: flights.ids(),
        limit: 1,
        only: intentId,
      });
      for (const intent of claimed) drive(intent);
    },
    /** Gives an intent back and takes it up again, from what the tables say. */
    rest,
    /** Resolves when no intent is being built or signed any more. */
    idle: () => Promise.allSettled(running),
  };
};
export type Driver = ReturnType<typeof createDriver>;
