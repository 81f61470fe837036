import type { Records } from '../../../shared/boot.ts';
import { batched } from '../../../shared/db/batched.ts';
import type { HourlyCaps, ReachedCap } from '../../../shared/db/hourly-caps.ts';
import type { Message } from '../../../shared/events/event.ts';
import { failpoint } from '../../../shared/lib/failpoint.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { activeTraceparent } from '../../../shared/lib/telemetry/trace.ts';
import { storedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { captureWithinCaps } from '../core/hourly-caps.ts';
import { firstSettleJob } from '../record/events.ts';
import type { Authorization, CaptureAmounts } from '../record/model/authorization.ts';
import {
  type AuthorizationRow,
  type NewCapture,
  type NewVoid,
  recordCaptures,
  recordVoids,
  type Voided,
} from '../record/store/authorizations.ts';

/** The state of an authorization as the rules read it. */
export const stateOf = (
  row: Pick<AuthorizationRow, 'status' | 'ceiling' | 'used' | 'usable' | 'at_risk_at'>,
): Authorization => ({
  status: row.status,
  maxMicro: row.ceiling,
  usedMicro: row.used,
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

type Deps = Pick<Records, 'pool' | 'relay' | 'clock'> & { caps: HourlyCaps };

/** Ends authorizations. Those of the same moment share a statement. */
export const createEndAuthorization = ({ pool, relay, clock, caps }: Deps) => {
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
      used: formatMicro(row.used),
      ...how,
    };
    const outbox = await captureOne({ capture, job: jobOf(row, amountMicro, acceptedAt) });
    if (outbox === null) return false;
    await failpoint('settlement.afterCapture');
    relay.dispatch(outbox);
    return true;
  };
  return {
    /**
     * Captures it, in the hour in which it is decided.
     * @returns false if it has ended meanwhile, or more was used than the row shows; the hourly cap
     * that has no room for it
     */
    capture: (row: AuthorizationRow, amounts: CaptureAmounts): Promise<boolean | ReachedCap> => {
      const { amountMicro } = amounts;
      const acceptedAt = clock();
      const beyond_use = amountMicro > row.used;
      const payer = { wallet: row.owner, accountId: row.account_id };
      return captureWithinCaps(caps, { payer, amountMicro, at: acceptedAt }, () =>
        record(row, amounts, { beyond_use, found: false, acceptedAt }),
      );
    },
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
      const used = formatMicro(row.used);
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
