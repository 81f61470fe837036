import type { Records } from '../../../shared/boot.ts';
import { readUntil } from '../../../shared/bus/read-until.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { invalid, notFound, ServiceError } from '../../../shared/contract/errors.ts';
import type { CallKey } from '../../../shared/contract/idempotency.ts';
import type { funding } from '../../../shared/contract/index.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { insertOutbox } from '../../../shared/events/outbox.ts';
import { begin, complete } from '../../../shared/idempotency/store.ts';
import { isDecided } from '../../../shared/lib/chain/chain-work.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { newId } from '../../../shared/lib/id.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { snapshotSince } from '../../../shared/lib/snapshot.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { fundJob } from './events.ts';
import { devFundProblem } from './model.ts';
import { type DevFundRow, getDevFund, insertDevFund } from './store.ts';
import { wakeKey } from './wake-key.ts';

type Deps = Pick<Records, 'pool' | 'relay'> & { waiting: Waiting } & Pick<Terms, 'chainWaitMs' | 'devFund'> &
  Pick<Peers, 'findWallet' | 'observeWallet'>;

/**
 * Begins the transfer of test funds. A call whose key has begun one already joins it.
 * @returns the fund's id
 */
const beginFund = async (
  { pool, relay }: Deps,
  row: Pick<DevFundRow, 'account_id' | 'wallet_id' | 'owner' | 'amount'>,
  key: CallKey | undefined,
): Promise<string> => {
  const begun = key?.begun ?? null;
  if (begun !== null) return begun;
  const fund_id = newId('fund');
  const insert = async (tx: Db) => {
    const inserted = await insertDevFund(tx, { fund_id, ...row });
    await begin(tx, key, fund_id);
    return insertOutbox(tx, [fundJob(inserted)]);
  };
  relay.dispatch(await pool.transaction(insert));
  return fund_id;
};

/**
 * Waits until the transfer is decided. @throws ServiceError when it failed or is still undecided
 */
const confirmedFund = async (
  { pool, waiting, chainWaitMs }: Deps,
  fundId: string,
  key: CallKey | undefined,
): Promise<DevFundRow & { tx_hash: string }> => {
  const row = await readUntil(waiting, wakeKey(fundId), {
    read: () => getDevFund(pool, fundId),
    done: ({ status }) => isDecided(status),
    timeoutMs: chainWaitMs,
  });
  if (row.status === 'failed') {
    throw new ServiceError('payment_failed', row.failure_message ?? 'the transfer failed', {
      money_moved: 'no',
    });
  }
  const { tx_hash } = row;
  if (!isDecided(row.status) || tx_hash === null) {
    // Without a key, repeating the call would send the amount a second time.
    throw new ServiceError(
      'service_unavailable',
      key === undefined
        ? 'the chain has not confirmed the transfer in time; it may still arrive, so read the wallet’s balance before asking again'
        : 'the chain has not confirmed the transfer in time; it may still arrive, so repeat the call with the same Idempotency-Key',
      { money_moved: 'unknown', retryAfterSeconds: 15 },
    );
  }
  return { ...row, tx_hash };
};

/** POST /v1/dev/fund. */
export const devFund =
  (deps: Deps): Handler<typeof funding.operations.devFund> =>
  async (input, { account_id }, key) => {
    if (!deps.devFund) throw new ServiceError('not_found', 'this environment has no test funds');
    const amount = parseMicro(input.amount);
    const problem = devFundProblem(amount);
    if (problem !== null) throw invalid('amount', problem);
    const wallet = await deps.findWallet({ account_id, wallet_id: input.wallet_id });
    if (wallet === null) throw notFound('wallet');
    const { wallet_id, owner } = wallet;

    const fundId = await beginFund(deps, { account_id, wallet_id, owner, amount }, key);
    await failpoint('funding.afterBegun');
    const { tx_hash, slot } = await confirmedFund(deps, fundId, key);
    const { balance } = await snapshotSince(
      () => deps.observeWallet({ owner }),
      slot === null ? null : Number(slot),
    );
    const answer = { wallet_id, amount: input.amount, tx_hash, balance };
    await complete(deps.pool, key, answer, fundId);
    return answer;
  };
