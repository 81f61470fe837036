import { invalid, ServiceError } from '../../../shared/contract/errors.ts';
import type { gateway } from '../../../shared/contract/gateway.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { RequestLog } from './request-log.ts';

const DEFAULT_LIMIT = 20;
/** The id of an entry of a Redis stream. It says nothing about other accounts. */
const PLACE = /^\d{13}-\d{1,9}$/;

/** GET /v1/requests: the newest calls of the account. */
export const requests =
  ({ log }: { log: Pick<RequestLog, 'list'> }): Handler<typeof gateway.operations.requests> =>
  async ({ cursor, limit: limitText, refused }, { account_id }) => {
    if (cursor !== undefined && !PLACE.test(cursor))
      throw invalid('cursor', 'not a cursor of this list; pass its next_cursor unchanged');
    const limit = limitText === undefined ? DEFAULT_LIMIT : Number(limitText);
    const page = { refused: refused === 'true', before: cursor ?? null, limit: limit + 1 };
    const found = await log.list(account_id, page).catch(() => {
      throw new ServiceError('service_unavailable', 'the request log is unavailable right now; try again', {
        retryAfterSeconds: 5,
      });
    });
    const data = found.slice(0, limit);
    return {
      data: data.map(({ request }) => request),
      next_cursor: found.length > limit ? data.at(-1)!.place : null,
    };
  };
