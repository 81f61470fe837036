import type { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import type { Waiting } from '../../../shared/bus/wake.ts';
import { conflict, invalid, notFound } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { HourlyCaps } from '../../../shared/db/hourly-caps.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';
import { count } from '../../../shared/lib/telemetry/metrics.ts';
import { captureOverCap } from '../core/hourly-caps.ts';
import { waitForEnd } from '../core/wait.ts';
import { justChanged } from '../delivering/consume.ts';
import type { Peers } from '../peers.ts';
import { amountsToCapture, closedError, frozenError } from '../record/model/authorization.ts';
import { failedError } from '../record/model/refusal.ts';
import { checkToken } from '../record/settlement-token.ts';
import { type AuthorizationRow, findAuthorization } from '../record/store/authorizations.ts';
import type { ServiceTerms } from '../terms.ts';
import { captureTermsOf, type EndAuthorization, stateOf } from './end-authorization.ts';
import type { RecordLostCapture } from './lost-capture.ts';

type Deps = Pick<Records, 'pool'> &
  Pick<Peers, 'isFrozen'> &
  Pick<ServiceTerms, 'environment' | 'publicKeys' | 'settleWaitMs'> & {
    waiting: Waiting;
    caps: HourlyCaps;
    endAuthorization: EndAuthorization;
    recordLostCapture: RecordLostCapture;
  };
type Caller = PrincipalOf<readonly ['service_key']>;
type Input = z.infer<typeof settlement.operations.capture.input>;
type Answer = z.infer<typeof settlement.operations.capture.output>;

/** The authorization of the caller's service. @throws ServiceError not_found, conflict */
const find = async ({ pool }: Deps, settlement_id: string, service_id: string): Promise<AuthorizationRow> => {
  const row = await findAuthorization(pool, { settlement_id, service_id });
  if (row === null) throw notFound('authorization');
  return row;
};

/**
 * Decides a capture, unless it was decided before. Use that is reported meanwhile makes it decide
 * again: the vendor that streams and captures at once did nothing wrong.
 * @param until when it gives up, by `performance.now()`
 * @returns the row after it
 */
const decide = async (
  deps: Deps,
  input: Input,
  { service_id, frozen }: Caller,
  until: number,
): Promise<AuthorizationRow> => {
  const { settlement_id, amount, settlement_token } = input;
  const asked = amount === undefined ? null : parseMicro(amount);
  for (let decisions = 0; decisions === 0 || performance.now() < until; decisions += 1) {
    const row = await find(deps, settlement_id, service_id);
    if (settlement_token !== undefined)
      checkToken({ settlement_id, service_id, settlement_token }, row, {
        env: deps.environment,
        keys: deps.publicKeys,
      });
    if (row.status === 'voided') throw closedError(stateOf(row))!;
    if (row.status !== 'authorized') {
      if (asked !== null && asked !== row.quote_amount)
        throw conflict(`another amount was captured: ${row.quote_amount}`);
      if (decisions === 0) count('quittance_idempotent_replays_total', 1, { operation: 'capture' });
      return row;
    }
    if (await deps.recordLostCapture(row)) continue;
    const amounts = amountsToCapture(stateOf(row), captureTermsOf(row), asked);
    if (amounts.amountMicro > row.used) {
      if (settlement_token === undefined)
        throw invalid(
          'settlement_token',
          'is required for an amount beyond what was reported as used: it proves that the buyer gave it to you',
        );
      if (frozen || (await deps.isFrozen(row.account_id))) throw frozenError();
    }
    const captured = await deps.endAuthorization.capture(row, amounts);
    if (captured === true) return find(deps, settlement_id, service_id);
    if (captured !== false) throw captureOverCap(deps.caps, captured, settlement_id);
  }
  throw justChanged();
};

const show = (row: AuthorizationRow): Answer => {
  if (row.status === 'failed') throw failedError(row, row.settlement_id);
  const amounts = {
    settlement_id: row.settlement_id,
    captured_amount: formatMicro(row.quote_amount),
    fee_amount: formatMicro(row.fee_amount),
    net_amount: formatMicro(row.quote_amount - row.fee_amount),
    max_amount: formatMicro(row.ceiling),
  };
  return row.status === 'capturing'
    ? { ...amounts, status: 'pending', tx_hash: row.tx_hash }
    : { ...amounts, status: 'confirmed', tx_hash: row.tx_hash! };
};

/** POST /v1/settlements/:settlement_id/capture: pays what was used, once. */
export const capture =
  (deps: Deps): Handler<typeof settlement.operations.capture> =>
  async (input, caller) => {
    const until = performance.now() + deps.settleWaitMs;
    const row = await decide(deps, input, caller, until);
    if (row.status !== 'capturing') return show(row);
    const read = () => find(deps, input.settlement_id, caller.service_id);
    return show(await waitForEnd(deps, input.settlement_id, { read, until, isEnd: isCaptured }));
  };

const isCaptured = ({ status }: { status: string }): boolean => status !== 'capturing';
