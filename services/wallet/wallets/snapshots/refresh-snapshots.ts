import type { Records } from '../../../../shared/boot.ts';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import type { Message } from '../../../../shared/events/event.ts';
import { insertOutbox } from '../../../../shared/events/outbox.ts';
import { isoTime } from '../../../../shared/lib/clock.ts';
import { parseMicro } from '../../../../shared/lib/money/micro.ts';
import { snapshotSince } from '../../../../shared/lib/snapshot.ts';
import type { Peers } from '../../peers.ts';
import type { Terms } from '../../terms.ts';
import { type DelegationRecord, delegationStatus, needsSpending } from '../delegation-status.ts';
import { updateAuthority, type WalletRow } from '../store.ts';
import { delegationChanged } from './events.ts';
import { isChanged, isDelegationChanged } from './model.ts';
import {
  listSnapshots,
  lockSnapshots,
  type SnapshotChange,
  type SnapshotRow,
  updateSnapshots,
} from './store.ts';

type Observation = Awaited<ReturnType<Peers['observeWallets']>>['snapshots'][number];

export type RefreshDeps = Pick<Records, 'pool' | 'clock' | 'relay'> &
  Pick<Terms, 'watchEveryMs'> &
  Pick<Peers, 'observeWallets' | 'sumSpentSince'>;

const recordOf = (row: WalletRow): DelegationRecord => ({
  approving: row.approving,
  lastConfirmed: row.last_confirmed,
  approved: row.last_allowance,
});

const delegationOf = ({ exists, delegate, served, allowance }: Observation) => ({
  exists,
  delegate,
  served,
  allowance: parseMicro(allowance),
});

/**
 * What wallets have paid since their last approval, by wallet id, for those whose status depends on
 * it.
 */
const sumSpending = async (
  { sumSpentSince }: RefreshDeps,
  rows: readonly WalletRow[],
  observations: readonly Observation[],
): Promise<Map<string, bigint>> => {
  const unclear = rows.filter((row, at) => needsSpending(recordOf(row), delegationOf(observations[at]!)));
  if (unclear.length === 0) return new Map();
  const sums = await sumSpentSince({
    wallets: unclear.map(({ account_id, wallet_id, last_submitted_at, created_at }) => ({
      account_id,
      wallet_id,
      since: isoTime(last_submitted_at ?? created_at),
    })),
  });
  return new Map(sums.map(({ wallet_id, spent }) => [wallet_id, parseMicro(spent)]));
};

/** The snapshot of a wallet after an observation. */
const snapshotOf = (
  row: WalletRow,
  before: SnapshotRow,
  observation: Observation,
  { spent, seenAt }: { spent: bigint; seenAt: number },
): SnapshotRow => ({
  wallet_id: row.wallet_id,
  token_account_exists: observation.exists,
  token_account_seen: before.token_account_seen || observation.exists,
  balance: parseMicro(observation.balance),
  delegate: observation.delegate,
  allowance: parseMicro(observation.allowance),
  delegation_status: delegationStatus(recordOf(row), delegationOf(observation), spent),
  slot: BigInt(observation.slot),
  seen_at: seenAt,
});

/** Observes the wallets until the observation is not older than a slot. */
const observe = async (
  { observeWallets }: RefreshDeps,
  rows: readonly WalletRow[],
  minSlot: number | null,
): Promise<readonly Observation[]> => {
  const owners = rows.map(({ public_key }) => public_key);
  const { snapshots } = await snapshotSince(async () => {
    const answer = await observeWallets({ owners });
    return { snapshots: answer.snapshots, slot: Math.min(...answer.snapshots.map(({ slot }) => slot)) };
  }, minSlot);
  return snapshots;
};

/**
 * Observes up to 100 wallets on the chain by one call, stores their snapshots and publishes what
 * changed, in one commit. An observation by a node that lags behind the stored snapshot changes
 * nothing.
 * @param requested the owner reads the wallet, so it is in use and polled often from now on
 * @param minSlot the snapshots must not be older than this slot; null for any
 * @returns the snapshots in the order of the wallets
 * @throws ServiceError service_unavailable while the chain, or settlement where it is called, is
 *   unavailable
 */
export const refreshSnapshots = async (
  deps: RefreshDeps,
  rows: readonly WalletRow[],
  { requested, minSlot = null }: { requested: boolean; minSlot?: number | null },
): Promise<SnapshotRow[]> => {
  const observations = await observe(deps, rows, minSlot);
  const spent = await sumSpending(deps, rows, observations);
  const seenAt = deps.clock();
  const ids = rows.map(({ wallet_id }) => wallet_id);

  const { snapshots, outbox } = await deps.pool.transaction(async (tx) => {
    const stored = new Map((await lockSnapshots(tx, ids)).map((each) => [each.wallet_id, each]));
    const events: Message[] = [];
    const changes: SnapshotChange[] = [];
    const snapshots: SnapshotRow[] = [];
    for (const [at, row] of rows.entries()) {
      const { wallet_id } = row;
      const before = stored.get(wallet_id)!;
      const observation = observations[at]!;
      if (BigInt(observation.slot) < before.slot) {
        snapshots.push(before);
        continue;
      }
      const now = snapshotOf(row, before, observation, { spent: spent.get(wallet_id) ?? 0n, seenAt });
      const { seen_at: _, ...values } = now;
      snapshots.push(now);
      changes.push({ ...values, active: requested || isChanged(now, before) });
      if (isDelegationChanged(now, before)) events.push(delegationChanged(row, now, before, seenAt));
      if (now.delegation_status === 'active' && now.delegate !== row.authority)
        await updateAuthority(tx, wallet_id, now.delegate!);
    }
    await updateSnapshots(tx, changes, { pollMs: deps.watchEveryMs });
    return { snapshots, outbox: events.length === 0 ? [] : await insertOutbox(tx, events) };
  });
  deps.relay.dispatch(outbox);
  return snapshots;
};

/**
 * The snapshots of wallets as the chain is now. While the chain cannot be read, they are the stored
 * ones, and the view shows their time as `as_of`.
 * @throws ServiceError service_unavailable for a wallet that was never seen, or not since `minSlot`
 */
export const currentSnapshots = async (
  deps: RefreshDeps,
  rows: readonly WalletRow[],
  { minSlot = null }: { minSlot?: number | null } = {},
): Promise<SnapshotRow[]> => {
  if (rows.length === 0) return [];
  try {
    return await refreshSnapshots(deps, rows, { requested: true, minSlot });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'service_unavailable') throw error;
    const ids = rows.map(({ wallet_id }) => wallet_id);
    const stored = new Map((await listSnapshots(deps.pool, ids)).map((each) => [each.wallet_id, each]));
    return ids.map((id) => {
      const snapshot = stored.get(id);
      const isUsable = snapshot !== undefined && snapshot.seen_at !== null;
      if (!isUsable || snapshot.slot < BigInt(minSlot ?? 0)) throw error;
      return snapshot;
    });
  }
};
