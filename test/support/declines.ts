import { createRecordDecline } from '../../services/settlement/declines/record-decline.ts';
import { settle } from '../../services/settlement/settlements/settle.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { newId } from '../../shared/lib/id.ts';
import { base, callAs, deps } from './settlement.ts';
import { vendor } from './settlement-quotes.ts';

/** Refused settles of the settlement fixture, and the declines that callers see of them. */

export type Payer = Principal & { account_id: string };
type Shown = {
  decline_id: string;
  quote_id: string;
  code: string;
  reason?: string;
  delegate_id?: string | null;
  limit?: { asked: string; limit: string; left: string; resets_at: string | null } | null;
};

export const pageOf = (caller: Principal, query: object = {}) =>
  callAs<{ data: Shown[]; next_cursor: string | null }>(caller, 'listDeclines', query);
export const list = async (caller: Principal, query: object = {}) => (await pageOf(caller, query)).data;
/** The sign-in of the vendor. */
export const seller = {
  kind: 'jwt',
  account_id: vendor.account_id,
  session_id: 's',
  auth_time: 0,
} as Principal;

/** Settles with other dependencies, as another replica or in another condition. */
export const payWith = (changes: object, payer: Principal, { quote_token }: { quote_token: string }) =>
  settle({ ...deps, ...changes })({ quote_token, payment_attempt_id: newId('evt') }, payer as never);
/** The error of a call. */
export const refusal = async (work: Promise<unknown>): Promise<ServiceError> => {
  const error = await work.then(
    (answer) => new TypeError(`no refusal: ${JSON.stringify(answer)}`),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ServiceError) return error;
  throw error;
};
/** Another replica, which has recorded nothing yet. */
export const replica = (changes: object = {}) =>
  createRecordDecline({ ...base, clock: base.clock.now, ...changes });
