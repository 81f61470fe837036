import type { AttemptReport } from '../../../shared/contract/chain-submitter.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { readToken } from '../../../shared/lib/tokens/compact-token.ts';
import type { PublicKeys } from '../../../shared/lib/tokens/keys.ts';
import { proveExpiry, readChainAge, readSignatureTrace } from '../broadcast/expiry-proof.ts';
import { hasFailedFinally, type SignatureStatus } from '../broadcast/model/agreement.ts';
import { listSignaturesUnder, type Search } from '../chain/reference-search.ts';
import type { RpcPool } from '../chain/rpc-pool.ts';
import { settleIntentId } from '../ledger/intent-id.ts';
import type { Network } from '../ledger/model/network.ts';
import { movedOrder } from '../ledger/model/payment.ts';
import { intents, signingDeadline } from '../ledger/model/state.ts';
import { referenceOf } from '../ledger/reference.ts';
import { withQuoteToken } from '../ledger/store/final-request.ts';
import { findIntent, type IntentRow } from '../ledger/store/intents.ts';
import { findIntentIds, listTransactions, type SignedRow } from '../ledger/store/transactions.ts';
import { OrderRefused, parseOrder } from '../transactions/parse-order.ts';
import { statusText } from './status-text.ts';

export type AttemptReportDeps = {
  pool: Pool;
  clock: Clock;
  environment: string;
  keys: PublicKeys;
  network: Network;
  rpc: RpcPool;
};

type Attempt = { account_id: string; payment_attempt_id: string; quote_token: string };
type Evaluation = Pick<AttemptReport, 'outcome' | 'reason'>;
/**
 * `valid`: it may be included; `failed`: it failed, and that is final; `known`: a provider has a
 * trace of it.
 */
type SignedResult = 'valid' | 'expired' | 'failed' | 'known';
type SignedBytes = SignedRow & { result: SignedResult; statuses: readonly SignatureStatus[] };
/** What the evaluation rests on. */
type Proof = {
  intent: IntentRow | null;
  /** When nothing of the attempt can be signed any more, epoch milliseconds. */
  deadline: number;
  height: number;
  signed: readonly SignedBytes[];
  /** Transactions under the quote's reference that are not another attempt's. */
  listed: readonly string[];
};

const open = (reason: string): Evaluation => ({ outcome: 'open', reason });

/**
 * Bytes whose record was lost may have been signed until the deadline, and are valid for 150
 * blocks, about a minute. Without an intent the outcome stays open until this time has passed as
 * well.
 */
const LOST_RECORD_MS = 10 * 60_000;

/**
 * Whether every provider has the transaction as final, with exactly the amounts of the intent's
 * order.
 */
const isPaidBy = async (
  { rpc, network, environment, keys }: AttemptReportDeps,
  intent: IntentRow,
  signature: string,
): Promise<boolean> => {
  try {
    const order = parseOrder(intent, { network, environment, keys });
    const answers = await Promise.all(
      rpc.providers.map((provider) => provider.balances(signature, 'finalized')),
    );
    return answers.every((changes) => changes !== null && movedOrder(changes, order, network));
  } catch (error) {
    if (error instanceof OrderRefused) return false;
    throw error;
  }
};

/** The proof of expiry for each of an attempt's transactions. @throws RpcUnavailable */
const proveEach = async (
  deps: Pick<AttemptReportDeps, 'rpc'>,
  rows: readonly SignedRow[],
  search: Search,
): Promise<{ height: number; signed: SignedBytes[] }> => {
  const age = await readChainAge(deps);
  const prove = async (row: SignedRow): Promise<SignedResult> => {
    const { signature, wire, last_valid_block_height: lastValidBlockHeight } = row;
    const proof = await proveExpiry(age, { wire, lastValidBlockHeight }, () =>
      readSignatureTrace(deps, signature, search),
    );
    if (proof === 'expired') return proof;
    if (proof === 'early' || proof === 'valid') return 'valid';
    const { statuses, isListed } = proof.known;
    return !isListed && statuses.every(hasFailedFinally) ? 'failed' : 'known';
  };
  const signed = rows.map(async (row) => {
    const result = await prove(row);
    const answers = await Promise.all(
      deps.rpc.providers.map((provider) => provider.statuses([row.signature], { history: true })),
    );
    return { ...row, result, statuses: answers.map((answer) => answer.statuses[0] ?? null) };
  });
  return { height: age.height, signed: await Promise.all(signed) };
};

/** Evaluates an attempt whose payment was not found as final. */
const evaluateUnpaid = (
  { clock }: Pick<AttemptReportDeps, 'clock'>,
  { intent, deadline, height, signed, listed }: Proof,
): Evaluation => {
  const until = deadline + LOST_RECORD_MS;
  if (intent === null && clock() <= until)
    return open(`there is no intent, and bytes of a lost one could be included until ${isoTime(until)}`);
  if (intent !== null && !intents.isTerminal(intent.status))
    return open(`the intent is ${intent.status}, and the executor brings it to its final state`);
  if (intent?.status === 'finalized')
    return open('the record has it as final, and not every provider confirms that');
  if (listed.length > 0)
    return open(`${listed[0]} names the quote on the chain, and it is not known who signed it`);
  const valid = signed.find(({ result }) => result === 'valid');
  if (valid !== undefined)
    return open(
      `${valid.signature} may be included until finalized block ${valid.last_valid_block_height}, the chain is at ${height}`,
    );
  const known = signed.find(({ result }) => result === 'known');
  if (known !== undefined) return open(`a provider has a status of ${known.signature}`);
  return {
    outcome: 'excluded',
    reason: 'every transaction of it is past its last valid block on every provider, or there is none',
  };
};

const evaluateProof = async (
  deps: AttemptReportDeps,
  attempt: Attempt,
  proof: Proof,
): Promise<Evaluation> => {
  const { signed, listed } = proof;
  const intent = proof.intent && withQuoteToken(proof.intent, attempt);
  const signatures = new Set([...signed.map(({ signature }) => signature), ...listed]);
  for (const signature of intent === null ? [] : signatures)
    if (await isPaidBy(deps, intent!, signature))
      return {
        outcome: 'included',
        reason: `${signature} is final on every provider and moved the quote's amounts`,
      };
  return evaluateUnpaid(deps, proof);
};

/**
 * Reports everything known about an attempt, with the expiry proof (docs/design/settle.md, rule
 * 11). Every provider is queried. One that does not answer proves nothing, and the call fails.
 * @throws ServiceError validation_error for an invalid token; RpcUnavailable
 */
export const reportAttempt = async (deps: AttemptReportDeps, attempt: Attempt): Promise<AttemptReport> => {
  const { pool, environment, keys } = deps;
  const claims = readToken('quote', attempt.quote_token, { env: environment, keys }).claimsFor('followUp');
  const intentId = settleIntentId(attempt);
  const intent = await findIntent(pool, intentId);
  const rows = await listTransactions(pool, intentId);
  const search = {
    reference: referenceOf(environment, claims.quote_id),
    since: Date.parse(claims.issued_at),
  };
  const { height, signed } = await proveEach(deps, rows, search);
  const listed = await listSignaturesUnder(deps.rpc, search, { everywhere: true });
  // Another attempt's payment of the same quote proves nothing about this one.
  const intentIds = await findIntentIds(pool, listed);
  const proof: Proof = {
    intent,
    deadline: signingDeadline(claims),
    height,
    signed,
    listed: listed.filter((signature) => (intentIds.get(signature) ?? intentId) === intentId),
  };
  return {
    ...(await evaluateProof(deps, attempt, proof)),
    intent: intent && {
      status: intent.status,
      generation: intent.generation,
      object_id: intent.object_id,
      tx_hash: intent.signature,
      failure: intent.failure_code && `${intent.failure_code}: ${intent.failure_message}`,
      created_at: isoTime(intent.created_at),
    },
    transactions: signed.map(({ signature, generation, status, last_valid_block_height, statuses }) => ({
      signature,
      generation,
      status,
      last_valid_block_height,
      provider_statuses: statuses.map(statusText),
    })),
    under_reference: [...listed],
    finalized_height: height,
  };
};
