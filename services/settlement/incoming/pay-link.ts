import { z } from 'zod';
import type { Records } from '../../../shared/boot.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import { LINK_KEY } from '../../../shared/contract/quote.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import type { QuoteClaims } from '../../../shared/contract/tokens.ts';
import { readToken } from '../../../shared/lib/compact-token.ts';
import { parseMicro } from '../../../shared/lib/micro.ts';
import { makeReceipt, type ReceiptDeps } from '../receipts/get-receipt.ts';
import { claimQuote } from '../settlements/claim.ts';
import { failedError } from '../settlements/model/refusal.ts';
import { getSettlement } from '../settlements/store/settlements.ts';
import type { ServiceTerms } from '../terms.ts';
import { acceptErrorOf } from './model/accept-error.ts';
import { mismatchOf, type Refusal } from './model/refusal.ts';
import type { IncomingOrder, Presented } from './order.ts';
import { type PayDeps, pay } from './pay.ts';
import type { Vendor } from './vendor.ts';

export type PayLinkDeps = PayDeps &
  ReceiptDeps &
  Pick<Records, 'logger'> &
  Pick<ServiceTerms, 'environment' | 'publicKeys' | 'mint'>;

/** The page repeats the call after 202. */
const WAIT_MS = 8000;

const LinkScope = z.object({ resource: z.string(), [LINK_KEY]: z.object({ memo: z.string() }) });

/** A quote of a payment link. Only the quote service signs the key in the scope. */
type LinkQuote = { claims: QuoteClaims; inForce: boolean; memo: string; resource: string };

const readQuote = (deps: PayLinkDeps, token: string): LinkQuote => {
  const read = readToken('quote', token, { env: deps.environment, keys: deps.publicKeys });
  const scope = LinkScope.safeParse(read.claims.scope);
  if (!scope.success) throw invalid('quote_token', 'is not the quote of a payment link');
  if (read.claims.mint !== deps.mint) throw invalid('quote_token', 'is not a quote of this network');
  claimQuote(read.claims.quote_id);
  return { ...read, memo: scope.data[LINK_KEY].memo, resource: scope.data.resource };
};

/** The vendor as the quote names it. What closes or freezes it is read before an acceptance. */
const vendorOf = ({ vendor_account_id, service_id, service_name, payout_address }: QuoteClaims): Vendor => ({
  accountId: vendor_account_id,
  serviceId: service_id,
  serviceName: service_name,
  payoutAddress: payout_address,
  closing: false,
  frozen: false,
});

const EXPIRED: Refusal = { reason: 'quote_expired', message: 'the quote has expired; open the link again' };

const presented = (
  { clock }: Pick<PayLinkDeps, 'clock'>,
  { claims, inForce, memo, resource }: LinkQuote,
  transaction: string,
): Presented<Refusal> => {
  const vendor = vendorOf(claims);
  const amountMicro = parseMicro(claims.quote_amount);
  const order: IncomingOrder = {
    rail: 'x402',
    vendor,
    amountMicro,
    feeMicro: 0n,
    transaction,
    memo,
    resource,
    externalId: null,
    quote: { id: claims.quote_id, scope: claims.scope },
  };
  return {
    vendor,
    transaction,
    refuse: (refusal) => refusal,
    orderNow: async () => (inForce && Date.parse(claims.expires_at) > clock() ? order : { refused: EXPIRED }),
    mismatch: (row) => mismatchOf(row, { rail: 'x402', amountMicro, memo, quoteId: claims.quote_id }),
  };
};

/** Null: what it needs of another service is not there. The payment is made all the same. */
const findReceipt = async (deps: PayLinkDeps, settlementId: string): Promise<string | null> => {
  try {
    return (await makeReceipt(deps, await getSettlement(deps.pool, settlementId))).receipt_url;
  } catch (error) {
    deps.logger.warn({ err: error, settlement_id: settlementId }, 'receipt of a payment link not made');
    return null;
  }
};

/**
 * POST /v1/payment-links/payments: the platform stands for the vendor, which has no server. The
 * insert of the settlement claims the quote, and only then is the transaction signed.
 */
export const payLink =
  (deps: PayLinkDeps): Handler<typeof settlement.operations.payLink> =>
  async ({ quote_token, transaction }) => {
    const until = performance.now() + WAIT_MS;
    const quote = readQuote(deps, quote_token);
    const outcome = await pay(deps, presented(deps, quote, transaction), until);
    if (outcome.kind === 'refused') throw acceptErrorOf(outcome.refusal, outcome.moved);
    const { row } = outcome;
    if (row.status === 'failed') throw failedError(row);
    const { settlement_id } = row;
    if (outcome.kind === 'pending') return { settlement_id, status: 'pending', tx_hash: outcome.txHash };
    // A fork has removed it, and it is confirmed again soon.
    if (row.chain_status === 'pending') return { settlement_id, status: 'pending', tx_hash: row.tx_hash };
    return {
      settlement_id,
      status: 'confirmed',
      tx_hash: row.tx_hash!,
      receipt_url: await findReceipt(deps, settlement_id),
    };
  };
