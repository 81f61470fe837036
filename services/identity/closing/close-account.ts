import { setTimeout as sleep } from 'node:timers/promises';
import type { Records } from '../../../shared/boot.ts';
import type { OpenWork } from '../../../shared/contract/account-activity.ts';
import { conflict } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { event } from '../../../shared/events/event.ts';
import { insertOutbox, type OutboxRow } from '../../../shared/events/outbox.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { abandonClosing, beginClosing, closeAccountRow, lockAccount } from '../accounts/store.ts';
import { deleteDelegatesOf } from '../delegates/store.ts';
import { deleteDeviceSignInsOf } from '../devices/store/device_sign_ins.ts';
import { revokeKeysOfAccount } from '../keys/store/keys.ts';
import { insertNotice, releaseChanges } from '../mails/store.ts';
import { deletePasskeysOf } from '../passkeys/store/passkeys.ts';
import type { Peers } from '../peers.ts';
import { endServicesOf } from '../services/store.ts';
import { deleteKnownBrowsersOf } from '../sessions/store/known_browsers.ts';
import { deleteLoginLinks } from '../sessions/store/login_links.ts';
import { revokeSessions } from '../sessions/store/sessions.ts';
import type { Terms } from '../terms.ts';

/**
 * Longer than a gateway and settlement cache whether an account is frozen. After this time nothing
 * new can be started.
 */
const NOTHING_NEW_MS = 1200;

/** What is open, and what the owner can do about it. */
const OPEN_TEXTS: Readonly<Record<OpenWork, string>> = {
  quotes: 'a quote of a service can still be paid; wait until it has expired',
  payments: 'a payment is not final yet; wait for it',
  sales: 'a payment that you have received can still be redeemed, consumed or reversed; wait for it',
  approvals: 'a payment waits for your approval, or is approved and not made; deny it',
  fees: 'the account owes fees; pay them (POST /v1/accounts/me/fee-quote)',
  withdrawals: 'a withdrawal has no outcome yet; cancel it or wait',
  refunds: 'a refund has no outcome yet; submit it, cancel it or wait',
  deposits: 'a deposit has no outcome yet; wait for it',
  dev_funds: 'test funds are on their way; wait for them',
  wallets: 'a wallet that was created here holds money; withdraw it',
};

type AccountCloser = Pick<Records, 'pool' | 'relay'> &
  Pick<Terms, 'erasureDays'> &
  Pick<Peers, 'listOpenWork'> & { sendMailsNow: () => void };

/**
 * Closes the account and ends what belongs to it, in one transaction.
 * @throws ServiceError unauthorized if another call has closed the account; conflict if its freeze
 * has ended, so that something may have begun
 */
const closeNow = async (tx: Db, accountId: string, erasureDays: number) => {
  const { email } = await lockAccount(tx, accountId);
  const times = await closeAccountRow(tx, accountId, erasureDays);
  if (times === null) throw conflict('the closure took too long; repeat the call');
  const at = isoTime(times.closed_at);
  const erase_at = isoTime(times.erase_at);
  await insertNotice(tx, { account_id: accountId, kind: 'account_closed', details: { at, erase_at } });
  await releaseChanges(tx, email);
  // The sign-ins come first, in the order of every change that locks them with their delegates.
  const sessions = await revokeSessions(tx, accountId, 'all');
  await endServicesOf(tx, accountId);
  await deleteDelegatesOf(tx, accountId);
  await deletePasskeysOf(tx, accountId);
  await deleteDeviceSignInsOf(tx, accountId);
  await deleteLoginLinks(tx, email);
  await deleteKnownBrowsersOf(tx, email);
  const key_hashes = [...(await revokeKeysOfAccount(tx, accountId))];
  const events = await insertOutbox(tx, [
    ...(key_hashes.length === 0 ? [] : [event('identity.keysRevoked', { key_hashes })]),
    event('identity.accountClosed', { account_id: accountId, at }),
  ]);
  const outbox: OutboxRow[] = [...sessions, ...events];
  return { outbox, closed: { account_id: accountId, status: 'closed' as const, closed_at: at, erase_at } };
};

/**
 * POST /v1/accounts/me/close. The account is frozen before the handler checks what is open.
 * Otherwise a payment could begin in between, of an account that nobody can sign in to.
 */
export const closeAccount =
  (deps: AccountCloser): Handler<typeof identity.operations.closeAccount> =>
  async (_input, { account_id }) => {
    const refuseIfOpen = async (): Promise<void> => {
      const open = await deps.listOpenWork(account_id);
      if (open.length === 0) return;
      throw conflict(`the account cannot be closed while something is open: ${open.join(', ')}`, {
        details: open.map((part) => ({ path: part, message: OPEN_TEXTS[part] })),
      });
    };
    await refuseIfOpen();
    await beginClosing(deps.pool, account_id);
    try {
      await sleep(NOTHING_NEW_MS);
      await refuseIfOpen();
      const { outbox, closed } = await deps.pool.transaction((tx) =>
        closeNow(tx, account_id, deps.erasureDays),
      );
      deps.relay.dispatch(outbox);
      deps.sendMailsNow();
      return closed;
    } catch (error) {
      await abandonClosing(deps.pool, account_id);
      throw error;
    }
  };
