import { ServiceError } from '../../../shared/contract/errors.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import type { Peers } from '../peers.ts';
import { captureAmounts } from '../record/model/authorization.ts';
import { type AuthorizationRow, recordSought } from '../record/store/authorizations.ts';
import { captureTermsOf, type EndAuthorization } from './end-authorization.ts';

type Deps = Pick<Peers, 'findCapture'> & { pool: Pool; endAuthorization: EndAuthorization };

const RETRY_SECONDS = 30;

/** The words while nobody knows. What is asked for may have happened already. */
const mayBeCaptured = (settlementId: string): ServiceError =>
  new ServiceError(
    'service_unavailable',
    'records were lost, and the chain has not shown yet whether this authorization was captured; repeat the call',
    { money_moved: 'unknown', settlement_id: settlementId, retryAfterSeconds: RETRY_SECONDS },
  );

/**
 * Records the capture of an authorization that the chain has, and whose record a restore has lost.
 * It is asked before such an authorization ends: a void would deny the payment, and a capture of
 * another amount would be a second one.
 * @returns true if the row has changed. False: no restore concerns it, or it was not captured
 * @throws ServiceError service_unavailable while the chain cannot be asked
 */
export const createRecordLostCapture =
  ({ pool, findCapture, endAuthorization }: Deps) =>
  async (row: AuthorizationRow): Promise<boolean> => {
    if (!row.may_be_captured || row.status !== 'authorized') return false;
    const { quote_token, owner, account_id, payment_attempt_id } = row;
    const sought = { quote_token, owner, account_id, payment_attempt_id };
    const { amount } = await findCapture(sought).catch((error: unknown) => {
      throw error instanceof ServiceError ? mayBeCaptured(row.settlement_id) : error;
    });
    if (amount === null) {
      await recordSought(pool, row.settlement_id);
      return false;
    }
    const amounts = captureAmounts(parseMicro(amount), captureTermsOf(row));
    if (amounts === null) throw new TypeError('A capture exceeds its fee.');
    await endAuthorization.recordFound(row, amounts);
    return true;
  };
export type RecordLostCapture = ReturnType<typeof createRecordLostCapture>;
