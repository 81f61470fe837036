import { ServiceError } from '../../shared/contract/errors.ts';
import type { Message } from '../../shared/events/event.ts';
import { insertOutbox } from '../../shared/events/outbox.ts';
import { isoTime } from '../../shared/lib/clock.ts';
import { parseMicro } from '../../shared/lib/micro.ts';
import { snapshotSince } from '../../shared/lib/snapshot.ts';
import type { Deps, Sight } from './deps.ts';
import { type DelegationRecord, delegationStatus, needsSpending } from './domain/delegation.ts';
import { delegationChanged } from './events.ts';
import { isClosed, lastSights, lockSights, type SightRow, saveSights } from './store/sights.ts';
import { setAuthority, type WalletRow } from './store/wallets.ts';

const recordOf = (row: WalletRow): DelegationRecord => ({
  approving: row.approving,
  lastConfirmed: row.last_confirmed,
  approved: row.last_allowance,
});

const read = ({ exists, delegate, served, allowance }: Sight) => ({
  exists,
  delegate,
  served,
  allowance: parseMicro(allowance),
});

/** What the wallets that need it have paid since their last approval, by wallet id. */
const spendingOf = async (
  deps: Deps,
  rows: readonly WalletRow[],
  sights: readonly Sight[],
): Promise<Map<string, bigint>> => {
  const unclear = rows.filter((row, at) => needsSpending(recordOf(row), read(sights[at]!)));
  if (unclear.length === 0) return new Map();
  const answer = await deps.sumSpentSince(
    unclear.map(({ account_id, wallet_id, last_submitted_at, created_at }) => ({
      account_id,
      wallet_id,
      since: isoTime(last_submitted_at ?? created_at),
    })),
  );
  return new Map(answer.map(({ wallet_id, spent }) => [wallet_id, parseMicro(spent)]));
};

/** Whether it is published: settlement judges payers by it. */
const isNews = (now: SightRow, before: SightRow): boolean =>
  now.delegation_status !== before.delegation_status ||
  isClosed(now) !== isClosed(before) ||
  // From one authority of ours to another.
  (now.delegation_status === 'active' && now.delegate !== before.delegate);

const isOther = (now: SightRow, before: SightRow): boolean =>
  isNews(now, before) ||
  now.balance !== before.balance ||
  now.allowance !== before.allowance ||
  now.delegate !== before.delegate;

/**
 * Looks at up to 100 wallets on chain by one call, keeps what was seen and publishes what changed,
 * in one commit. A node that lags behind an earlier sight changes nothing.
 * @param asked the owner wants to know: the wallet is in use, and looked at often from now on
 * @param sinceSlot what is known to have happened and must be seen
 * @returns the sights in the order of the wallets
 * @throws ServiceError service_unavailable while the chain, or settlement where it is asked, is
 * away
 */
export const look = async (
  deps: Deps,
  rows: readonly WalletRow[],
  { asked, sinceSlot = null }: { asked: boolean; sinceSlot?: number | null },
): Promise<SightRow[]> => {
  const { sights } = await snapshotSince(async () => {
    const answer = await deps.observeWallets(rows.map(({ public_key }) => public_key));
    return { sights: answer.snapshots, slot: Math.min(...answer.snapshots.map(({ slot }) => slot)) };
  }, sinceSlot);
  const spent = await spendingOf(deps, rows, sights);
  const seenAt = deps.clock();
  const ids = rows.map(({ wallet_id }) => wallet_id);

  const { kept, outbox } = await deps.pool.transaction(async (tx) => {
    const before = new Map((await lockSights(tx, ids)).map((sight) => [sight.wallet_id, sight]));
    const events: Message[] = [];
    const moved: { wallet_id: string; authority: string }[] = [];
    const saved: Parameters<typeof saveSights>[1][number][] = [];
    const all = rows.map((row, at): SightRow => {
      const { wallet_id } = row;
      const old = before.get(wallet_id)!;
      const sight = sights[at]!;
      if (BigInt(sight.slot) < old.slot) return old;
      const seen: SightRow = {
        wallet_id,
        token_account_exists: sight.exists,
        token_account_seen: old.token_account_seen || sight.exists,
        balance: parseMicro(sight.balance),
        delegate: sight.delegate,
        allowance: parseMicro(sight.allowance),
        delegation_status: delegationStatus(recordOf(row), read(sight), spent.get(wallet_id) ?? 0n),
        slot: BigInt(sight.slot),
        seen_at: seenAt,
      };
      const { seen_at: _, ...stored } = seen;
      saved.push({ ...stored, active: asked || isOther(seen, old) });
      if (seen.delegation_status === 'active' && sight.delegate !== row.authority)
        moved.push({ wallet_id, authority: sight.delegate! });
      if (isNews(seen, old)) events.push(delegationChanged(row, seen, old, seenAt));
      return seen;
    });
    for (const { wallet_id, authority } of moved) await setAuthority(tx, wallet_id, authority);
    await saveSights(tx, saved, { pollMs: deps.watchEveryMs });
    return { kept: all, outbox: events.length === 0 ? [] : await insertOutbox(tx, events) };
  });
  deps.relay.dispatch(outbox);
  return kept;
};

/**
 * The wallets as the chain shows them now; while it cannot be read, as they were last seen, which their `as_of` says.
 * @throws ServiceError service_unavailable for a wallet that was never seen, or not since what must be seen
 */
export const lookOrRecall = async (
  deps: Deps,
  rows: readonly WalletRow[],
  { sinceSlot = null }: { sinceSlot?: number | null } = {},
): Promise<SightRow[]> => {
  if (rows.length === 0) return [];
  try {
    return await look(deps, rows, { asked: true, sinceSlot });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'service_unavailable') throw error;
    const known = new Map(
      (
        await lastSights(
          deps.pool,
          rows.map(({ wallet_id }) => wallet_id),
        )
      ).map((sight) => [sight.wallet_id, sight]),
    );
    return rows.map(({ wallet_id }) => {
      const sight = known.get(wallet_id);
      if (sight === undefined || sight.seen_at === null || sight.slot < BigInt(sinceSlot ?? 0)) throw error;
      return sight;
    });
  }
};
