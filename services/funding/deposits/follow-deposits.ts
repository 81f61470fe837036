import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { insertMoved } from '../movements/events.ts';
import type { Peers } from '../peers.ts';
import { type AcceptReportDeps, acceptReport } from './accept-report.ts';
import { insertDepositChanged } from './events.ts';
import { type DepositProblem, isOverdue, matchTransfer, problemOf, type SeenTransfer } from './model.ts';
import type { Onramps } from './providers/onramp.ts';
import { listSentTransactions } from './store/deposit_reports.ts';
import {
  claimDueDeposits,
  completeDeposit,
  type DepositRow,
  listCountedInstructions,
  recordProblem,
  stopPolling,
  transitionDeposit,
} from './store/deposits.ts';

type Deps = AcceptReportDeps & { onramps: Onramps } & Pick<Peers, 'observeTransfers'>;

const BATCH = 20;
/**
 * After this many polls for a named transaction, the provider is polled for another transaction.
 */
const CHAIN_POLLS_BEFORE_PROVIDER = 24;

const raiseProblem = async (
  { pool, logger }: Deps,
  deposit: DepositRow,
  problem: DepositProblem,
  { final }: { final: boolean },
): Promise<void> => {
  if (await recordProblem(pool, deposit, problem, { final })) {
    count('quittance_anomalies_total', 1, { kind: 'deposit_problem' });
    logger.error({ deposit_id: deposit.deposit_id, problem: problem.code }, problem.message);
  }
};

const complete = async (
  { pool, relay }: Deps,
  depositId: string,
  transfer: SeenTransfer & { txHash: string },
): Promise<void> => {
  const outbox = await pool.transaction(async (tx) =>
    (await completeDeposit(tx, depositId, transfer))
      ? [...(await insertMoved(tx, depositId)), ...(await insertDepositChanged(tx, depositId))]
      : [],
  );
  relay.dispatch(outbox);
};

/**
 * Polls the chain for the transfers that the provider named. The provider's report names the
 * transaction to read and the amount to expect. Only a finalized transaction on the chain
 * completes the deposit.
 */
const pollChain = async (
  deps: Deps,
  deposit: DepositRow,
): Promise<'decided' | 'undecided' | 'nothing named'> => {
  const { pool } = deps;
  const { deposit_id, owner } = deposit;
  const named = await listSentTransactions(pool, deposit_id);
  if (named.length === 0) return 'nothing named';
  let problem: DepositProblem | null = null;
  let undecided = false;
  for (const { tx_hash, amount } of named) {
    const observed = await deps.observeTransfers({ tx_hash, owner });
    if (observed.status === 'unknown') {
      undecided = true;
      continue;
    }
    const transfers = observed.transfers.map((transfer) => ({
      instruction: transfer.instruction,
      amountMicro: parseMicro(transfer.amount),
    }));
    const counted = new Set(await listCountedInstructions(pool, tx_hash));
    const match = matchTransfer(amount, transfers, counted);
    if ('transfer' in match) {
      await complete(deps, deposit_id, { txHash: tx_hash, ...match.transfer });
      return 'decided';
    }
    problem = match.problem;
  }
  if (problem !== null) await raiseProblem(deps, deposit, problem, { final: !undecided });
  return undecided ? 'undecided' : 'decided';
};

const follow = async (deps: Deps, deposit: DepositRow): Promise<void> => {
  const { pool, onramps } = deps;
  const { deposit_id, provider, status, poll_count: pollCount } = deposit;
  if (status === 'settling') {
    if (isOverdue(pollCount)) await raiseProblem(deps, deposit, problemOf('not_seen'), { final: false });
    const outcome = await pollChain(deps, deposit);
    if (outcome === 'decided') return;
    if (outcome === 'undecided' && pollCount < CHAIN_POLLS_BEFORE_PROVIDER) return;
  }
  const reports = (await onramps[provider]?.poll(deposit_id)) ?? [];
  for (const report of reports) {
    if (report.depositId === deposit_id) await acceptReport(deps, provider, report, 'poll');
  }
  // A deposit expires only after its provider was polled: a lost webhook must not expire a paid
  // deposit.
  if (!deposit.elapsed) return;
  const outbox = await pool.transaction(async (tx) =>
    (await transitionDeposit(tx, deposit_id, 'elapsed')) ? insertDepositChanged(tx, deposit_id) : [],
  );
  deps.relay.dispatch(outbox);
  await stopPolling(pool, deposit_id);
};

/**
 * Processes the deposits that are due: polls the provider (the second source beside its webhooks),
 * polls the chain for the transfer, and expires deposits that nobody paid. Any number of replicas
 * may run it.
 */
export const followDeposits = (deps: Deps) => async (): Promise<boolean> => {
  let found = false;
  for (;;) {
    const due = await claimDueDeposits(deps.pool, BATCH);
    found ||= due.length > 0;
    await Promise.all(
      due.map((deposit) =>
        follow(deps, deposit).catch((error: unknown) =>
          deps.logger.warn(
            { err: error, deposit_id: deposit.deposit_id },
            'deposit not polled; the next poll tries again',
          ),
        ),
      ),
    );
    if (due.length < BATCH) return found;
  }
};
