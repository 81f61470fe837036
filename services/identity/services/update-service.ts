import type { Records } from '../../../shared/boot.ts';
import { invalid, notFound } from '../../../shared/contract/errors.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Db } from '../../../shared/db/pool.ts';
import { isoTime } from '../../../shared/lib/clock.ts';
import { normaliseDomain } from '../../../shared/lib/domain.ts';
import { requireFresh } from '../../../shared/lib/tokens/step-up.ts';
import { insertNotice } from '../mails/store.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { isOtherList, widens } from './allowed-ips.ts';
import { parsePrice } from './price.ts';
import { findServiceRow, type ServiceRow, updateServiceRow } from './store.ts';
import { showService } from './view.ts';

/** Notes other addresses for the owner: a thief of a key widens them, to use it elsewhere. */
const noteAllowedIps = async (tx: Db, before: ServiceRow, after: ServiceRow): Promise<void> => {
  if (!isOtherList(before.allowed_ips, after.allowed_ips)) return;
  await insertNotice(tx, {
    account_id: after.account_id,
    kind: 'allowed_ips_changed',
    details: {
      service_id: after.service_id,
      name: after.name,
      allowed_ips: after.allowed_ips?.join(', ') ?? 'any address',
      widened: widens(before.allowed_ips, after.allowed_ips) ? 'yes' : 'no',
    },
  });
};

/** @throws ServiceError validation_error for a text that is no public domain */
const parseDomain = (text: string | null | undefined): string | null | undefined => {
  if (text === null || text === undefined) return text;
  const name = normaliseDomain(text);
  if (name !== null) return name;
  throw invalid('domain', 'must be a public domain like shop.example.com, without https:// and path');
};

/**
 * PATCH /v1/services/:service_id. Existing quotes keep the payout address that they were signed
 * with.
 */
export const updateService =
  (
    deps: Pick<Records, 'pool' | 'clock'> &
      Pick<Terms, 'fee' | 'payoutDelayHours'> &
      Pick<Peers, 'checkPayoutAddress'> & { sendMailsNow: () => void },
  ): Handler<typeof identity.operations.updateService> =>
  async (input, caller) => {
    const { service_id, payout_address, allowed_ips } = input;
    if (payout_address !== undefined || allowed_ips !== undefined) requireFresh(caller, deps.clock());
    // Before the address is checked on chain, so that a caller who does not own the service learns
    // nothing from the check.
    const before = await findServiceRow(deps.pool, caller.account_id, service_id);
    if (before === null) throw notFound('service');
    const domain = parseDomain(input.domain);
    const price = input.price === undefined ? undefined : parsePrice(input.price, deps.fee);
    if (payout_address !== undefined && payout_address !== before.payout_address) {
      await deps.checkPayoutAddress(payout_address, input.allow_off_curve ?? false);
    }
    const changed = await deps.pool.transaction(async (tx) => {
      const row = await updateServiceRow(tx, caller.account_id, service_id, {
        name: input.name,
        price,
        redeem_window_seconds: input.redeem_window_seconds,
        key_grace_hours: input.key_grace_hours,
        allowed_ips,
        domain,
        payout_address,
        payoutDelayHours: deps.payoutDelayHours,
      });
      if (row === null) throw notFound('service');
      await noteAllowedIps(tx, before, row);
      const effectiveAt = row.next_payout_at;
      const same = row.payout_address === before.payout_address && effectiveAt === before.next_payout_at;
      if (payout_address !== undefined && !same) {
        await insertNotice(tx, {
          account_id: caller.account_id,
          kind: 'payout_changed',
          details: {
            owner_kind: 'service',
            owner_id: service_id,
            name: row.name,
            payout_address,
            effective_at: effectiveAt === null ? 'now' : isoTime(effectiveAt),
          },
        });
      }
      return row;
    });
    deps.sendMailsNow();
    return showService(changed, deps.fee);
  };
