import { invalid } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { insertNotice } from '../mails/store.ts';
import { showSettings } from '../sessions/view.ts';
import { lockAccount, saveSettings } from './store.ts';

/**
 * PATCH /v1/accounts/me/settings. The default wallet is kept by the wallet service, where settle asks for it, and
 * chosen first: a refused wallet changes nothing, and a repeat after a crash in between ends the same.
 */
export const updateSettings =
  (deps: Deps): Handler<typeof identity.operations.updateSettings> =>
  async (input, { account_id }) => {
    const { default_wallet_id, display_name, mail_key_events, mail_payments } = input;
    if (default_wallet_id !== undefined && !(await deps.chooseDefaultWallet(account_id, default_wallet_id))) {
      const message = 'no such wallet of this account';
      throw invalid('default_wallet_id', message);
    }
    const alert = input.spending_alert_threshold;
    const threshold = typeof alert === 'string' ? parseMicro(alert) : alert;
    const row = await deps.pool.transaction(async (tx) => {
      const before = await lockAccount(tx, account_id);
      const after = await saveSettings(tx, {
        account_id,
        display_name: display_name === undefined ? before.display_name : display_name,
        mail_key_events: mail_key_events ?? before.mail_key_events,
        mail_payments: mail_payments ?? before.mail_payments,
        spending_alert_threshold: threshold === undefined ? before.spending_alert_threshold : threshold,
      });
      if (before.mail_key_events && !after.mail_key_events) {
        const details = { at: isoTime(deps.clock()) };
        await insertNotice(tx, { account_id, kind: 'key_mails_off', details, always: true });
      }
      return after;
    });
    deps.pokeMails();
    return showSettings(row, await deps.defaultWallet(account_id));
  };
