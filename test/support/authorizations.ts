import type { Principal } from '../../shared/contract/principal.ts';
import type { CaptureTerms } from '../../shared/contract/quote/capture.ts';
import { newId } from '../../shared/lib/id.ts';
import { admin, callAs, pay, quote, serviceKey } from './settlement.ts';
import { consumer } from './settlement-peers.ts';
import { captureTerms } from './settlement-quotes.ts';

/** Calls about authorizations of the settlement fixture. */
export const CEILING = 500_000n;

/** A quote with a ceiling. */
export const ceilingQuote = (terms: Partial<CaptureTerms> = {}, amount = CEILING, scope = null) =>
  quote(amount, { capture: captureTerms(terms), scope });

type Authorized = {
  settlement_id: string;
  settlement_token: string;
  status: string;
  tx_hash: null;
  max_amount: string;
  capture_ends_at: string;
};
type Payer = Principal & { account_id: string; owner?: string };

/** An authorization of a consumer. */
export const authorize = async (
  terms: Partial<CaptureTerms> = {},
  payer: Payer = consumer(),
  amount = CEILING,
) => {
  const q = ceilingQuote(terms, amount);
  const attempt = newId('evt');
  const answer = (await pay(payer, q, attempt)) as unknown as Authorized;
  const { settlement_id: id, settlement_token: token } = answer;
  return { id, token, q, attempt, payer, answer };
};
/** A quote that raises the ceiling of an authorization. */
export const extensionOf = ({ q }: { q: ReturnType<typeof quote> }, amount: bigint) =>
  quote(amount, { capture: captureTerms(), scope: null, extends: q.quote_id });
type Authorization = { id: string; token: string };

type Used = { used: string; left: string; max_amount: string };
/** Reports a use, or several. */
export const use = ({ id, token }: Authorization, uses: object, key: Principal = serviceKey) =>
  callAs<Used>(key, 'usage', { settlement_id: id, settlement_token: token, ...uses });
type CaptureAnswer = {
  status: string;
  captured_amount: string;
  fee_amount: string;
  net_amount: string;
  tx_hash: string | null;
};
export const capture = ({ id }: { id: string }, rest: object = {}) =>
  callAs<CaptureAnswer>(serviceKey, 'capture', { settlement_id: id, ...rest });
export const voidIt = ({ id }: { id: string }, rest: object = {}) =>
  callAs<{ status: string; used: string; voided_at: string }>(serviceKey, 'void', {
    settlement_id: id,
    ...rest,
  });

/** The messages of the outbox and the row, as the database has them. */
export const record = async (settlementId: string) => {
  const { rows } = await admin.query(
    `select status, chain_status, quote_amount::text as amount, fee_amount::text as fee, holding,
      units_consumed::text as used, max_amount::text as max, redeemed_at is not null as redeemed
    from settlements where settlement_id = $1`,
    [settlementId],
  );
  return rows[0] as {
    status: string;
    chain_status: string;
    amount: string;
    fee: string;
    holding: boolean;
    used: string;
    max: string;
    redeemed: boolean;
  };
};

/** The sum of the uses that were recorded. */
export const sumOfUses = async (settlementId: string): Promise<string> => {
  const { rows } = await admin.query(
    'select coalesce(sum(units), 0)::text as sum from consumptions where settlement_id = $1',
    [settlementId],
  );
  return rows[0].sum;
};
