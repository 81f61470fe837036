import type { Records } from '../../../shared/boot.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { Message } from '../../../shared/events/event.ts';
import { storedClaims } from '../../../shared/lib/compact-token.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { formatMicro } from '../../../shared/lib/micro.ts';
import { activeTraceparent } from '../../../shared/lib/trace.ts';
import { firstSettleJob } from './events.ts';
import type { Authorization, CaptureAmounts } from './model/authorization.ts';
import {
  type AuthorizationRow,
  type NewCapture,
  type NewVoid,
  recordCaptures,
  recordVoids,
  type Voided,
} from './store/authorizations.ts';

/** The state of an authorization as the rules read it. */
export const stateOf = (
  row: Pick<AuthorizationRow, 'status' | 'max_amount' | 'units_consumed' | 'usable' | 'at_risk_at'>,
): Authorization => ({
  status: row.status,
  maxMicro: row.max_amount,
  usedMicro: row.units_consumed,
  usable: row.usable,
  isAtRisk: row.at_risk_at !== null,
});

/** The terms that the quote of an authorization fixed. */
export const captureTermsOf = ({ quote_token }: Pick<AuthorizationRow, 'quote_token'>) => {
  const { capture } = storedClaims(quote_token);
  if (capture === undefined) throw new TypeError('The quote of an authorization has capture terms.');
  return capture;
};

const jobOf = (row: AuthorizationRow, amountMicro: bigint, acceptedAt: number): Message =>
  firstSettleJob(
    { ...row, capture_amount: amountMicro, created_at: acceptedAt },
    { traceparent: activeTraceparent() },
  );

/** Ends authorizations. Those of the same moment share a statement. */
export const createEndAuthorization = ({ pool, relay, clock }: Pick<Records, 'pool' | 'relay' | 'clock'>) => {
  const keysOf = ({ settlement_id }: { settlement_id: string }) => [settlement_id];
  const captureOne = batched(
    (captures: readonly { capture: NewCapture; job: Message }[]) => recordCaptures(pool, captures),
    { keysOf: ({ capture }) => keysOf(capture) },
  );
  const voidOne = batched((voids: readonly NewVoid[]) => recordVoids(pool, voids), { keysOf });
  type Decided = Pick<NewCapture, 'beyond_use' | 'found'> & { acceptedAt: number };
  const record = async (
    row: AuthorizationRow,
    amounts: CaptureAmounts,
    decided: Decided,
  ): Promise<boolean> => {
    await failpoint('settlement.beforeCapture');
    const { amountMicro, feeMicro } = amounts;
    const { acceptedAt, ...how } = decided;
    const capture = {
      settlement_id: row.settlement_id,
      amount: formatMicro(amountMicro),
      fee: formatMicro(feeMicro),
      used: formatMicro(row.units_consumed),
      ...how,
    };
    const outbox = await captureOne({ capture, job: jobOf(row, amountMicro, acceptedAt) });
    if (outbox === null) return false;
    await failpoint('settlement.afterCapture');
    relay.dispatch(outbox);
    return true;
  };
  return {
    /** @returns false if it has ended meanwhile, or more was used than the row shows */
    capture: (row: AuthorizationRow, amounts: CaptureAmounts): Promise<boolean> =>
      record(row, amounts, {
        beyond_use: amounts.amountMicro > row.units_consumed,
        found: false,
        acceptedAt: clock(),
      }),
    /**
     * Records a capture that the chain has, whatever was used or is due.
     * @returns as `capture`
     */
    recordFound: (row: AuthorizationRow, amounts: CaptureAmounts): Promise<boolean> =>
      // chain-submitter queries every provider for an old payment, and adopts it.
      record(row, amounts, { beyond_use: false, found: true, acceptedAt: row.created_at }),
    /** @returns null if it has ended meanwhile, or more was used than the row shows */
    void: async (row: AuthorizationRow): Promise<Voided | null> => {
      await failpoint('settlement.beforeVoid');
      const used = formatMicro(row.units_consumed);
      const voided = await voidOne({
        settlement_id: row.settlement_id,
        used,
        traceparent: activeTraceparent(),
      });
      if (voided !== null) relay.dispatch(voided.events);
      return voided;
    },
  };
};
export type EndAuthorization = ReturnType<typeof createEndAuthorization>;
