import { count } from '../../../shared/lib/metrics.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { insertDepositChanged, insertMoved } from '../transfers/events.ts';
import { takeReport } from './accept-report.ts';
import { type DepositProblem, isOverdue, matchTransfer, problemOf } from './model.ts';
import { sentFor } from './store/deposit_reports.ts';
import {
  claimDueDeposits,
  completeDeposit,
  type DepositRow,
  flagDeposit,
  stopLooking,
  takenInstructions,
  transitionDeposit,
} from './store/deposits.ts';

const BATCH = 20;
/** After so many looks for a transaction that was named, the provider is asked whether it has sent another. */
const LOOKS_BEFORE_ASKING_AGAIN = 24;

const flag = async (
  { pool, logger }: Pick<Deps, 'pool' | 'logger'>,
  deposit: DepositRow,
  problem: DepositProblem,
  { final }: { final: boolean },
): Promise<void> => {
  if (await flagDeposit(pool, deposit, problem, { final })) {
    count('settle.anomalies', 1, { kind: 'deposit_problem' });
    logger.error({ deposit: deposit.deposit_id, problem: problem.code }, problem.message);
  }
};

/**
 * Looks for the transfers that the provider named. The provider's word says where to look and how much it should be;
 * that it has arrived is said by the chain alone, once it is final.
 */
const lookAtChain = async (
  deps: Deps,
  deposit: DepositRow,
): Promise<'done' | 'not yet' | 'nothing named'> => {
  const { pool, relay } = deps;
  const { deposit_id, owner } = deposit;
  const named = await sentFor(pool, deposit_id);
  if (named.length === 0) return 'nothing named';
  let problem: DepositProblem | null = null;
  let undecided = false;
  for (const { tx_hash: txHash, amount } of named) {
    const sight = await deps.observeTransfers(txHash, owner);
    if (sight.status === 'unknown') {
      undecided = true;
      continue;
    }
    const transfers = sight.transfers.map((transfer) => ({
      instruction: transfer.instruction,
      amountMicro: parseMicro(transfer.amount),
    }));
    const match = matchTransfer(amount, transfers, new Set(await takenInstructions(pool, txHash)));
    if ('transfer' in match) {
      const { transfer } = match;
      const outbox = await pool.transaction(async (tx) =>
        (await completeDeposit(tx, deposit_id, { txHash, ...transfer }))
          ? [...(await insertMoved(tx, deposit_id)), ...(await insertDepositChanged(tx, deposit_id))]
          : [],
      );
      relay.dispatch(outbox);
      return 'done';
    }
    problem = match.problem;
  }
  if (problem !== null) await flag(deps, deposit, problem, { final: !undecided });
  return undecided ? 'not yet' : 'done';
};

const follow = async (deps: Deps, deposit: DepositRow): Promise<void> => {
  const { pool, onramps } = deps;
  const { deposit_id, provider, status, looks } = deposit;
  if (status === 'settling') {
    if (isOverdue(looks)) await flag(deps, deposit, problemOf('not_seen'), { final: false });
    const seen = await lookAtChain(deps, deposit);
    if (seen === 'done' || (seen === 'not yet' && looks < LOOKS_BEFORE_ASKING_AGAIN)) return;
  }
  const reports = (await onramps[provider]?.poll(deposit_id)) ?? [];
  for (const report of reports) {
    if (report.depositId === deposit_id) await takeReport(deps, provider, report, 'poll');
  }
  // Only after the provider was asked: a webhook that was lost must not end a deposit that is paid.
  if (!deposit.elapsed) return;
  const outbox = await pool.transaction(async (tx) =>
    (await transitionDeposit(tx, deposit_id, 'elapsed')) ? insertDepositChanged(tx, deposit_id) : [],
  );
  deps.relay.dispatch(outbox);
  await stopLooking(pool, deposit_id);
};

/**
 * Goes on with deposits that are due: asks the provider (the second source beside its webhooks), looks for the
 * transfer on chain, ends what nobody paid. Any number of replicas may run it.
 */
export const followDeposits = (deps: Deps) => async (): Promise<void> => {
  for (;;) {
    const due = await claimDueDeposits(deps.pool, BATCH);
    await Promise.all(
      due.map((deposit) =>
        follow(deps, deposit).catch((error: unknown) =>
          deps.logger.warn({ err: error, deposit: deposit.deposit_id }, 'deposit could not be looked at'),
        ),
      ),
    );
    if (due.length < BATCH) return;
  }
};
