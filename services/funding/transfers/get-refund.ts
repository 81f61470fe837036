import type { funding } from '../../../shared/contract/funding.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Deps } from '../deps.ts';
import { ownRefund, readerOf } from './refunds.ts';
import { showRefund } from './view.ts';

/** GET /v1/refunds/:refund_id. */
export const getRefund =
  (deps: Deps): Handler<typeof funding.operations.getRefund> =>
  async ({ refund_id }, caller) =>
    showRefund(await ownRefund(deps, readerOf(caller), refund_id));
