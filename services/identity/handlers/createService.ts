import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { createKeyText, keyHash } from '../../../shared/lib/key-text.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import type { Deps } from '../deps.ts';
import { insertKey } from '../store/keys.ts';
import { insertService } from '../store/services.ts';
import { showService } from '../view.ts';

const DEFAULT_REDEEM_WINDOW_SECONDS = 900;

/** POST /v1/services: the service with its first key, whose text exists in this answer alone. */
export const createService =
  (deps: Deps): Handler<typeof identity.operations.createService> =>
  async (input, caller) => {
    await deps.checkPayoutAddress(input.payout_address, input.allow_off_curve ?? false);
    const apiKey = createKeyText(`vendor_${deps.environment}_`);
    const created = await deps.pool.transaction(async (tx) => {
      const service = await insertService(tx, {
        service_id: newServiceId(),
        account_id: caller.account_id,
        name: input.name,
        price: parseMicro(input.price),
        payout_address: input.payout_address,
        redeem_window_seconds: input.redeem_window_seconds ?? DEFAULT_REDEEM_WINDOW_SECONDS,
        created_at: deps.clock(),
      });
      await insertKey(tx, {
        key_id: newId('key'),
        account_id: caller.account_id,
        service_id: service.service_id,
        key_hash: keyHash(apiKey),
      });
      return service;
    });
    return { ...showService(created), api_key: apiKey };
  };
