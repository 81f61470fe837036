import { jsonBase64, objectOfBase64, objectOr } from '../../checks/encoding.ts';
import { memoTextOf } from '../../checks/payment-memo.ts';
import type { OptionNames } from '../../options.ts';
import { failed, type Refusal, unavailable } from '../base/answers.ts';
import {
  type Bill,
  type Dialect,
  type DialectFactory,
  isFixedPrice,
  type Offer,
  type PaywallContext,
} from '../base/dialect.ts';
import { type Incoming, isNavigation } from '../base/incoming.ts';
import type { IncomingSettlement } from '../base/incoming-payments.ts';
import type { IncomingTerms } from '../base/incoming-terms.ts';
import { type Asked, presentIncoming } from './incoming-dialect.ts';
import {
  type CreatedOffer,
  checkDialect,
  checkSecret,
  createOffers,
  OFFER_SECONDS,
  type OfferSecret,
  requireSecret,
} from './offers.ts';
import type { Transfers } from './transaction.ts';

type X402Options = {
  secret: OfferSecret;
  /**
   * Also serves clients of version 1. They return no offer, so their payment counts for any route
   * of the same price. Default false.
   */
  v1?: boolean;
};

const OPTIONS = { secret: true, v1: true } satisfies OptionNames<X402Options>;

/** How long a request waits for its payment. Proxies end requests after 60 s. */
const WAIT_MS = 50_000;
/** A longer address is shortened to its origin, so that all headers of a 402 stay below 4 KiB. */
const LONGEST_URL = 1024;

const NETWORKS_V1: Record<string, string> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'solana',
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': 'solana-devnet',
  'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z': 'solana-testnet',
};

/** Header names and values of one version of the protocol. */
const VERSIONS = {
  1: { payment: 'x-payment', answer: 'x-payment-response', networkOf: (id: string) => NETWORKS_V1[id] ?? id },
  2: { payment: 'payment-signature', answer: 'payment-response', networkOf: (id: string) => id },
} as const;
type Version = keyof typeof VERSIONS;

/** Reasons of the API and the paywall under the names of the reference facilitator. */
const REASONS: Record<string, string> = {
  spent: 'duplicate_settlement',
  insufficient_funds: 'insufficient_funds',
  payment_failed: 'invalid_exact_svm_transaction_failed',
  blockhash_expired: 'invalid_exact_svm_transaction_simulation_failed',
  simulation_failed: 'invalid_exact_svm_transaction_simulation_failed',
};
const errorOf = ({ reason }: Refusal): string => REASONS[reason] ?? reason;

/** What an offer of ours asks for. */
const transfersOf = (terms: IncomingTerms, { amount }: Bill): Transfers => ({
  feePayer: terms.fee_payer,
  mint: terms.mint,
  legs: [{ owner: terms.payout_address, amount }],
});
/** A client of version 1 returns no offer, so it pays what an offer of today asks for. */
const askedOf = (terms: IncomingTerms | null, bill: Bill): Asked | Refusal =>
  terms === null ? unavailable('foreign_terms') : { transfers: transfersOf(terms, bill), offer: null };

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const urlIn = (resource: string): string =>
  resource.length > LONGEST_URL ? `${new URL(resource).origin}/` : resource;

const requirementsOf = (terms: IncomingTerms) => ({
  scheme: 'exact',
  asset: terms.mint,
  payTo: terms.payout_address,
  maxTimeoutSeconds: OFFER_SECONDS,
});

const requiredV2 = (terms: IncomingTerms, bill: Bill, { offer, memo }: CreatedOffer, error: string) => ({
  x402Version: 2,
  error,
  resource: { url: urlIn(bill.resource), description: memoTextOf(bill), mimeType: '' },
  accepts: [
    {
      ...requirementsOf(terms),
      network: terms.network,
      amount: bill.amount,
      extra: { feePayer: terms.fee_payer, memo, offer, paymentFlow: 'upfront' },
    },
  ],
});

const requiredV1 = (terms: IncomingTerms, bill: Bill) => ({
  x402Version: 1,
  accepts: [
    {
      ...requirementsOf(terms),
      network: VERSIONS[1].networkOf(terms.network),
      maxAmountRequired: bill.amount,
      resource: urlIn(bill.resource),
      description: memoTextOf(bill),
      mimeType: '',
      extra: { feePayer: terms.fee_payer },
    },
  ],
});

/** The header that reports the outcome of a payment. */
const answerHeader = (version: Version, network: string, outcome: object): Record<string, string> => {
  const { answer, networkOf } = VERSIONS[version];
  return { [answer]: jsonBase64({ ...outcome, network: networkOf(network) }) };
};

const receiptIn =
  (version: Version, network: string) =>
  ({ tx_hash, payer_address, quote_amount, settlement_id }: IncomingSettlement): Record<string, string> =>
    answerHeader(version, network, {
      success: true,
      transaction: tx_hash,
      payer: payer_address,
      amount: quote_amount,
      extra: { quittance: { settlement_id } },
    });

const createDialect = (paywall: PaywallContext, { secret, v1 = false }: X402Options): Dialect => {
  const { findTerms, serviceId } = paywall;
  const offers = createOffers(secret, `quittance x402 offer ${serviceId}`);
  const versions: readonly Version[] = v1 ? [2, 1] : [2];
  /** What a client says that it has accepted, if it is an offer of ours. */
  const askedIn = async ({ extra, asset, payTo, amount }: Record<string, unknown>) => {
    const { feePayer, offer: sent } = objectOr(extra) ?? {};
    const legs = [{ owner: textOf(payTo), amount: textOf(amount) }];
    const transfers = { feePayer: textOf(feePayer), mint: textOf(asset), legs };
    const offer = await offers.read(sent);
    return (await offer?.isOf(transfers)) ? { transfers, offer } : failed('invalid_offer');
  };
  const versionOf = (incoming: Incoming): Version | null =>
    versions.find((version) => incoming.header(VERSIONS[version].payment) !== null) ?? null;

  return {
    name: 'x402',
    offersAgain: true,
    offer: async (bill, incoming, refused): Promise<Offer> => {
      // A settlement of x402 is redeemed as a whole, so it cannot buy several requests.
      const terms = isFixedPrice(bill) ? await findTerms() : null;
      if (terms === null) return {};
      const version = refused === null ? null : versionOf(incoming);
      const outcome =
        version === null || refused === null
          ? {}
          : answerHeader(version, terms.network, {
              success: false,
              errorReason: errorOf(refused),
              transaction: '',
            });
      const error = refused === null ? 'Payment required' : errorOf(refused);
      // The payment page gives a memo enough compute units. Programs have 20,000 for all.
      const text = isNavigation(incoming) ? memoTextOf(bill) : null;
      const created = await offers.create(bill.resource, transfersOf(terms, bill), text);
      const required = jsonBase64(requiredV2(terms, bill, created, error));
      return {
        ...(v1 ? { body: requiredV1(terms, bill) } : {}),
        headers: { 'payment-required': required, ...outcome },
      };
    },

    read: async (incoming, bill) => {
      const version = versionOf(incoming);
      if (version === null) return null;
      const sent = objectOfBase64(incoming.header(VERSIONS[version].payment)!);
      const payload = objectOr(sent?.payload);
      if (payload === null || sent?.x402Version !== version) return failed('invalid_payload');
      const accepted = objectOr(sent.accepted);
      const terms = await findTerms();
      const network = terms?.network ?? textOf(accepted?.network ?? sent.network);
      return presentIncoming(
        paywall,
        {
          rail: 'x402',
          transaction: payload.transaction,
          asked: version === 1 ? askedOf(terms, bill) : await askedIn(accepted ?? {}),
          waitMs: WAIT_MS,
          receiptOf: receiptIn(version, network),
        },
        bill,
      );
    },
  };
};

/**
 * Offers the routes of a paywall to x402 clients on Solana, scheme `exact`, version 2 and
 * optionally 1: `createPaywall({ dialects: [x402({ secret })] })`. The platform co-signs and
 * settles.
 * @throws TypeError if an option is unknown, or the secret is too short
 */
export const x402 = (options: X402Options): DialectFactory => {
  checkDialect('x402', options, OPTIONS);
  checkSecret(options.secret);
  return (paywall) => {
    requireSecret(options.secret);
    return createDialect(paywall, options);
  };
};
