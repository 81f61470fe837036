import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { openCursor, pageLimit, pageOf } from '../../../shared/db/cursor.ts';
import type { Deps } from '../deps.ts';
import { listOwnServices, type Place, type ServiceRow } from '../store/services.ts';
import { showService } from '../view.ts';

const placeText = ({ created_at, service_id }: Place): string => `${created_at}/${service_id}`;
/** The cursor's mac has been checked, so its text is one that we made. */
const openPlace = (text: string): Place => {
  const [created_at, service_id] = text.split('/') as [string, string];
  return { created_at: Number(created_at), service_id };
};

/** GET /v1/services: the account's services, newest first. */
export const listServices =
  (deps: Deps): Handler<typeof identity.operations.listServices> =>
  async (input, caller) => {
    const binding = ['services', caller.account_id];
    const limit = pageLimit(input.limit);
    const last = openCursor(deps.cursorKey, binding, input.cursor);
    const before = last === null ? null : openPlace(last);
    const rows = await listOwnServices(deps.pool, caller.account_id, { before, limit });
    return pageOf(rows, limit, {
      key: deps.cursorKey,
      binding,
      idOf: (row: ServiceRow) => placeText(row),
      show: showService,
    });
  };
