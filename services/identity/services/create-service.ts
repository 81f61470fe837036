import type { Records } from '../../../shared/boot.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { complete } from '../../../shared/idempotency/store.ts';
import { newServiceId } from '../../../shared/lib/id.ts';
import { mintFirstKey } from '../keys/mint-key.ts';
import type { Peers } from '../peers.ts';
import type { Terms } from '../terms.ts';
import { parsePrice } from './price.ts';
import { insertService } from './store.ts';
import { showService } from './view.ts';

const DEFAULT_REDEEM_WINDOW_SECONDS = 900;
const DEFAULT_GRACE_HOURS = 24;

/** POST /v1/services: the service with its first key. No later answer shows the text of the key. */
export const createService =
  (
    deps: Pick<Records, 'pool' | 'clock'> &
      Pick<Terms, 'environment' | 'fee'> &
      Pick<Peers, 'checkPayoutAddress'> & { sendMailsNow: () => void },
  ): Handler<typeof identity.operations.createService> =>
  async (input, caller, key) => {
    const price = parsePrice(input.price, deps.fee);
    await deps.checkPayoutAddress(input.payout_address, input.allow_off_curve ?? false);
    const created = await deps.pool.transaction(async (tx) => {
      const service = await insertService(tx, {
        service_id: newServiceId(),
        account_id: caller.account_id,
        name: input.name,
        price,
        payout_address: input.payout_address,
        redeem_window_seconds: input.redeem_window_seconds ?? DEFAULT_REDEEM_WINDOW_SECONDS,
        key_grace_hours: input.key_grace_hours ?? DEFAULT_GRACE_HOURS,
        created_at: deps.clock(),
      });
      const api_key = await mintFirstKey(tx, deps, { kind: 'service', id: service.service_id }, service);
      const answer = { ...showService(service, deps.fee), api_key };
      await complete(tx, key, answer);
      return answer;
    });
    deps.sendMailsNow();
    return created;
  };
