import type { Records } from '../../../shared/boot.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { requireFresh } from '../../../shared/lib/tokens/step-up.ts';
import { insertNotice } from '../mails/store.ts';
import type { Peers } from '../peers.ts';
import { type AccountRow, lockAccount, updateAccountSettings } from './store.ts';
import { showSettings } from './view.ts';

type Warnings = Pick<AccountRow, 'mail_key_events' | 'mail_payments' | 'spending_alert_threshold'>;

/**
 * Whether the owner would hear of less. A thief of a sign-in does this first, so it needs a recent
 * sign-in.
 */
const warnsLess = (before: Warnings, after: Warnings): boolean => {
  const [alert, next] = [before.spending_alert_threshold, after.spending_alert_threshold];
  return (
    (before.mail_key_events && !after.mail_key_events) ||
    (before.mail_payments && !after.mail_payments) ||
    (alert !== null && (next === null || next > alert))
  );
};

/**
 * PATCH /v1/accounts/me/settings. The wallet service stores the default wallet, because settle
 * reads it there. It is set first: a refused wallet changes nothing, and a repeat after a crash in
 * between has the same result.
 */
export const updateSettings =
  (
    deps: Pick<Records, 'pool' | 'clock'> &
      Pick<Peers, 'findDefaultWallet' | 'setDefaultWallet'> & { sendMailsNow: () => void },
  ): Handler<typeof identity.operations.updateSettings> =>
  async (input, caller) => {
    const { account_id } = caller;
    const { default_wallet_id, display_name, mail_key_events, mail_payments } = input;
    const isOtherWallet =
      default_wallet_id !== undefined && default_wallet_id !== (await deps.findDefaultWallet(account_id));
    if (isOtherWallet) requireFresh(caller, deps.clock());
    if (default_wallet_id !== undefined && !(await deps.setDefaultWallet(account_id, default_wallet_id))) {
      throw invalid('default_wallet_id', 'no such wallet of this account');
    }
    const alert = input.spending_alert_threshold;
    const threshold = typeof alert === 'string' ? parseMicro(alert) : alert;
    const row = await deps.pool.transaction(async (tx) => {
      const before = await lockAccount(tx, account_id);
      const after = {
        account_id,
        display_name: display_name === undefined ? before.display_name : display_name,
        mail_key_events: mail_key_events ?? before.mail_key_events,
        mail_payments: mail_payments ?? before.mail_payments,
        spending_alert_threshold: threshold === undefined ? before.spending_alert_threshold : threshold,
      };
      const isLess = warnsLess(before, after);
      if (isLess) requireFresh(caller, deps.clock());
      const changed = await updateAccountSettings(tx, after);
      if (before.mail_key_events && !after.mail_key_events) {
        const details = { at: isoTime(deps.clock()) };
        await insertNotice(tx, { account_id, kind: 'key_mails_off', details });
      } else if (isLess) await insertNotice(tx, { account_id, kind: 'warnings_reduced', details: {} });
      if (isOtherWallet) {
        const details = { wallet_id: default_wallet_id ?? 'that was linked first' };
        await insertNotice(tx, { account_id, kind: 'default_wallet_changed', details });
      }
      return changed;
    });
    deps.sendMailsNow();
    return showSettings(row, await deps.findDefaultWallet(account_id));
  };
