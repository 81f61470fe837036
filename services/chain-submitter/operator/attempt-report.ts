import type { AttemptReport } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { verifyToken } from '../../../shared/lib/compact-token.ts';
import type { PublicKeys } from '../../../shared/lib/keys.ts';
import type { Network } from '../chain/model/network.ts';
import type { Provider, Rpc } from '../chain/rpc-pool.ts';
import { expectedDeltas, listSignaturesUnder } from '../intents/adoption.ts';
import { intents, SIGNING_GRACE_MS } from '../intents/model/state.ts';
import { OrderRefused, parseOrder } from '../intents/parse-order.ts';
import { findIntent, type IntentRow } from '../intents/store/intents.ts';
import { referenceOf } from '../transactions/reference.ts';
import { findIntentIds, type SignedRow, listTransactions } from '../transactions/store/transactions.ts';

export type AttemptName = { account_id: string; payment_attempt_id: string; quote_token: string };
export const settleIntentId = ({ account_id, payment_attempt_id }: AttemptName): string =>
  `settle:${account_id}:${payment_attempt_id}`;

type AttemptReportDeps = {
  pool: Pool;
  rpc: Rpc;
  network: Network;
  environment: string;
  keys: PublicKeys;
  clock: Clock;
};
type Evaluation = Pick<AttemptReport, 'outcome' | 'reason'>;
const open = (why: string): Evaluation => ({ outcome: 'open', reason: why });

/**
 * Bytes of a record that was lost may have been signed until the deadline and live for 150 blocks, a minute or so: without
 * an intent nothing is said to be dead before this time has passed as well.
 */
const LOST_RECORD_MS = 10 * 60_000;

/** What a provider says of each signature. */
const statusesBy = async (provider: Provider, signatures: readonly string[]): Promise<string[]> => {
  if (signatures.length === 0) return [];
  const { statuses } = await provider.statuses(signatures, { history: true });
  return statuses.map((status) =>
    status === null
      ? 'unknown'
      : `${status.err === null ? '' : 'failed, '}${status.confirmationStatus ?? 'processed'}`,
  );
};

/** Whether every provider has it as final, and it moved exactly what the intent's order says. */
const isPaidBy = async (
  { rpc, network, environment, keys }: AttemptReportDeps,
  intent: IntentRow,
  signature: string,
): Promise<boolean> => {
  try {
    const deltas = expectedDeltas(parseOrder(intent, { network, environment, keys }), network);
    const polls = await Promise.all(rpc.providers.map((one) => one.balances(signature, 'finalized')));
    return polls.every(
      (changes) =>
        changes !== null &&
        changes.err === null &&
        deltas.every(([account, delta]) => changes.deltaOf(account) === delta),
    );
  } catch (error) {
    if (error instanceof OrderRefused) return false;
    throw error;
  }
};

const evaluate = async (
  deps: AttemptReportDeps,
  intent: IntentRow | null,
  {
    deadline,
    height,
    signed,
    under,
  }: {
    deadline: number;
    height: number;
    signed: readonly (SignedRow & { provider_statuses: readonly string[] })[];
    under: readonly string[];
  },
): Promise<Evaluation> => {
  if (intent !== null) {
    const own = [...new Set([...signed.map(({ signature }) => signature), ...under])];
    for (const signature of own)
      if (await isPaidBy(deps, intent, signature))
        return {
          outcome: 'included',
          reason: `${signature} is final on every provider and moved what the quote says`,
        };
    if (!intents.isTerminal(intent.status))
      return open(`the intent is ${intent.status}: the executor brings it to its end`);
    if (intent.status === 'finalized') return open('the record says final, and not every provider says so');
  } else if (deps.clock() <= deadline + LOST_RECORD_MS) {
    return open(
      `there is no intent, and what a lost one signed could land until ${isoTime(deadline + LOST_RECORD_MS)}`,
    );
  }
  if (under.length > 0) return open(`${under[0]} names the quote on chain, and it is not known whose it is`);
  const alive = signed.find(({ last_valid_block_height: last }) => last >= height);
  if (alive !== undefined)
    return open(
      `${alive.signature} may land until finalized block ${alive.last_valid_block_height}, it is ${height}`,
    );
  const known = signed.find(({ provider_statuses }) =>
    provider_statuses.some((word) => word !== 'unknown' && word !== 'failed, finalized'),
  );
  if (known !== undefined) return open(`a provider knows ${known.signature}`);
  return {
    outcome: 'excluded',
    reason: 'every transaction of it is past its last block on every provider, or there is none',
  };
};

/**
 * All that is known of an attempt, with the proof of rule 11 of docs/design/settle.md where there
 * is one. Every provider is asked: one that does not answer proves nothing, and the call fails.
 * @throws ServiceError validation_error for a token that does not hold; RpcUnavailable
 */
export const reportAttempt = async (deps: AttemptReportDeps, attempt: AttemptName): Promise<AttemptReport> => {
  const { pool, rpc, environment, keys } = deps;
  const claims = verifyToken('quote', attempt.quote_token, { env: environment, keys });
  const intentId = settleIntentId(attempt);
  const intent = await findIntent(pool, intentId);
  const rows = await listTransactions(pool, intentId);
  const signatures = rows.map(({ signature }) => signature);
  const [heights, said, found] = await Promise.all([
    Promise.all(rpc.providers.map((provider) => provider.blockHeight('finalized'))),
    Promise.all(rpc.providers.map((provider) => statusesBy(provider, signatures))),
    listSignaturesUnder(
      rpc,
      { reference: referenceOf(environment, claims.quote_id), since: Date.parse(claims.issued_at) },
      { everywhere: true },
    ),
  ]);
  // Another attempt's payment of the same quote says nothing about this one.
  const owners = await findIntentIds(pool, found);
  const under = found.filter((signature) => (owners.get(signature) ?? intentId) === intentId);
  const signed = rows.map((row, index) => ({
    ...row,
    provider_statuses: said.map((words) => words[index]!),
  }));
  const height = Math.min(...heights);
  const deadline = Date.parse(claims.expires_at) + SIGNING_GRACE_MS;
  return {
    ...(await evaluate(deps, intent, { deadline, height, signed, under })),
    intent: intent && {
      status: intent.status,
      generation: intent.generation,
      object_id: intent.object_id,
      tx_hash: intent.tx_hash,
      failure: intent.failure_code && `${intent.failure_code}: ${intent.failure_message}`,
      created_at: isoTime(intent.created_at),
    },
    transactions: signed,
    under_reference: found,
    finalized_height: height,
  };
};
