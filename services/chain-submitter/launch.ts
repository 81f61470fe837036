import { failpoint } from '../../shared/lib/failpoint.ts';
import { count } from '../../shared/lib/metrics.ts';
import type { Deps } from './deps.ts';
import type { Order } from './domain/order.ts';
import type { Flight } from './flights.ts';
import { signedFact } from './progress.ts';
import type { ClaimedIntent, Generation, SignedMove } from './store/intents.ts';
import { isCommitted } from './store/transactions.ts';

/** Rule 10. */
export const RESEND_MS = 2000;
const UNIQUE_VIOLATION = '23505';

type Bytes = Pick<Generation, 'signature' | 'wire' | 'lastValidBlockHeight'> & { generation: number };

/** A flight over committed bytes. */
export const flightOf = (
  { intent_id, kind, object_id, traceparent, ...intent }: ClaimedIntent,
  order: Order | null,
  bytes: Bytes,
): Flight => ({
  // Nothing more of it: thousands may wait for finality.
  intent: { intent_id, kind, object_id, traceparent },
  order,
  ...bytes,
  phase: intent.status === 'confirmed' ? 'confirmed' : 'sent',
  slot: intent.status === 'confirmed' && intent.slot !== null ? Number(intent.slot) : null,
  launchedAt: performance.now(),
  pollAt: 0,
  sendAt: performance.now() + RESEND_MS,
  told: kind !== 'settle',
  // What was found on the chain may be older than a node's short memory: it is looked for in the history at once.
  missed: bytes.wire.length === 0 ? 1 : 0,
  unanswered: 0,
});

/** Sends the bytes to every provider and has them watched. Nobody waits for the answers: only the chain's count. */
export const launch = ({ flights, rpc }: Pick<Deps, 'flights' | 'rpc'>, flight: Flight): void => {
  const sends = flight.wire.length > 0 && flight.phase === 'sent';
  if (sends) flight.pollAt = performance.now() + flights.pace.firstLookMs();
  flights.launch(flight);
  if (!sends) return;
  void rpc.broadcast(flight.wire).then(() => failpoint('submitter.afterSend'));
};

const isUniqueViolation = (error: unknown): boolean =>
  [error, (error as { cause?: unknown }).cause].some(
    (one) => (one as { code?: unknown } | undefined)?.code === UNIQUE_VIOLATION,
  );

/**
 * Commits signed bytes as the intent's next generation, then sends them (rule 8).
 * @returns false when they were not committed: another hand has moved the intent on, or lives on it, or it is too late
 * to sign; the bytes are forgotten, and what was never sent cannot land
 */
export const commitAndLaunch = async (
  deps: Pick<Deps, 'flights' | 'rpc' | 'pool' | 'commits' | 'relay' | 'logger'>,
  intent: ClaimedIntent,
  order: Order,
  signed: Generation,
): Promise<boolean> => {
  const generation = intent.generation + 1;
  const signedMove: SignedMove = {
    intentId: intent.intent_id,
    generation,
    traceparent: intent.traceparent,
    // Whoever waits for a settle waits for its end: that it was signed is told when that takes long (jobs/rebroadcast.ts).
    message:
      intent.kind === 'settle' ? null : signedFact(intent, { generation, signature: signed.signature }),
    signed,
  };
  try {
    const rows = await deps.commits.signed(signedMove);
    if (rows === null) return false;
    deps.relay.dispatch(rows);
  } catch (error) {
    if (isUniqueViolation(error)) return false;
    // The answer to the commit was lost: there → those bytes are the generation; absent → they never leave.
    deps.logger.warn(
      { err: error, intent: intent.intent_id },
      'commit of signed bytes unclear, reading again',
    );
    if (!(await isCommitted(deps.pool, signed.signature))) return false;
  }
  const how = signed.wire.length === 0 ? 'found' : generation === 1 ? 'first' : 'again';
  count('settle.chain.generations', 1, { generation: how });
  await failpoint('submitter.afterCommit');
  launch(deps, flightOf({ ...intent, status: 'signed' }, order, { ...signed, generation }));
  return true;
};
