import { notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { requireFresh } from '../../../shared/lib/step-up.ts';
import type { Deps } from '../deps.ts';
import { insertNotice } from '../mails/store.ts';
import { showService } from '../sessions/view.ts';
import { findOwnService, updateServiceRow } from './store.ts';

/** PATCH /v1/services/:service_id. Quotes that exist keep the payout address that they were signed with. */
export const updateService =
  (deps: Deps): Handler<typeof identity.operations.updateService> =>
  async (input, caller) => {
    const { service_id, payout_address } = input;
    if (payout_address !== undefined) requireFresh(caller, deps.clock());
    // Before the address is looked up on chain: whose service it is not learns nothing by it.
    const before = await findOwnService(deps.pool, caller.account_id, service_id);
    if (before === null) throw notFound('service');
    if (payout_address !== undefined && payout_address !== before.payout_address) {
      await deps.checkPayoutAddress(payout_address, input.allow_off_curve ?? false);
    }
    const changed = await deps.pool.transaction(async (tx) => {
      const row = await updateServiceRow(tx, caller.account_id, service_id, {
        name: input.name,
        price: input.price === undefined ? undefined : parseMicro(input.price),
        redeem_window_seconds: input.redeem_window_seconds,
        key_grace_hours: input.key_grace_hours,
        payout_address,
        payoutDelayHours: deps.payoutDelayHours,
      });
      if (row === null) throw notFound('service');
      const waits = row.next_payout_at;
      const same = row.payout_address === before.payout_address && waits === before.next_payout_at;
      if (payout_address !== undefined && !same) {
        await insertNotice(tx, {
          account_id: caller.account_id,
          kind: 'payout_changed',
          always: true,
          details: {
            owner_kind: 'service',
            owner_id: service_id,
            name: row.name,
            payout_address,
            effective_at: waits === null ? 'now' : isoTime(waits),
          },
        });
      }
      return row;
    });
    deps.pokeMails();
    return showService(changed);
  };
