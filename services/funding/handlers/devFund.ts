import { readUntil } from '../../../shared/bus/read-until.ts';
import { invalid, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { begin, complete } from '../../../shared/idempotency/store.ts';
import { isDecided } from '../../../shared/lib/chain-work.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { snapshotSince } from '../../../shared/lib/snapshot.ts';
import { type Deps, wakeKey } from '../deps.ts';
import { devFundProblem } from '../domain/dev-fund.ts';
import { fundJob } from '../events.ts';
import { devFundById, insertDevFund } from '../store/dev_funds.ts';

/** POST /v1/dev/fund. */
export const devFund =
  (deps: Deps): Handler<typeof funding.operations.devFund> =>
  async (input, caller, key) => {
    if (!deps.devFund) throw new ServiceError('not_found', 'this environment gives no test funds');
    const amount = parseMicro(input.amount);
    const message = devFundProblem(amount);
    if (message !== null) {
      throw invalid('amount', message);
    }
    const wallet = await deps.findWallet(caller.account_id, input.wallet_id);
    if (wallet === null) throw notFound('wallet');

    // What a call with the same key has asked for is waited for, by however many at once.
    const fundId = key?.begun ?? newId('fund');
    const beginFund = async (tx: Db) => {
      const row = await insertDevFund(tx, {
        fund_id: fundId,
        account_id: caller.account_id,
        wallet_id: wallet.wallet_id,
        owner: wallet.owner,
        amount,
      });
      await begin(tx, key, fundId);
      return insertOutbox(tx, [fundJob(row)]);
    };
    if (fundId !== key?.begun) deps.relay.dispatch(await deps.pool.transaction(beginFund));
    await failpoint('funding.afterBegun');

    const outcome = await readUntil(deps.waiting, wakeKey.fund(fundId), {
      read: () => devFundById(deps.pool, fundId),
      done: ({ status }) => isDecided(status),
      timeoutMs: deps.chainWaitMs,
    });
    if (outcome.status === 'failed') {
      throw new ServiceError('payment_failed', outcome.failure_message ?? 'the transfer failed', {
        money_moved: 'no',
      });
    }
    if (!isDecided(outcome.status) || outcome.tx_hash === null) {
      // Not "repeat with the same ids": without a key a repeat asks for the amount once more.
      throw new ServiceError(
        'service_unavailable',
        key === undefined
          ? 'the chain has not confirmed the transfer in time; it may still arrive, so look at the wallet’s balance before asking again'
          : 'the chain has not confirmed the transfer in time; it may still arrive, so repeat the call with the same Idempotency-Key',
        { money_moved: 'unknown', retryAfterSeconds: 15 },
      );
    }
    const slot = outcome.slot === null ? null : Number(outcome.slot);
    const { balance } = await snapshotSince(() => deps.observeWallet(wallet.owner), slot);
    const answer = {
      wallet_id: wallet.wallet_id,
      amount: input.amount,
      tx_hash: outcome.tx_hash,
      balance,
    };
    await complete(deps.pool, key, answer, fundId);
    return answer;
  };
