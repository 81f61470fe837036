import {
  base64Url,
  canonicalJson,
  hmacKey,
  jsonBase64Url,
  objectOfBase64,
  objectOr,
  utf8,
} from '../encoding.ts';
import type { OptionNames } from '../options.ts';
import { memoTextOf } from '../payment-memo.ts';
import { failed, type Refusal } from './answers.ts';
import type { Bill, Dialect, DialectFactory, Offer, PaywallContext } from './dialect.ts';
import type { Incoming } from './incoming.ts';
import { type Asked, presentIncoming } from './incoming-dialect.ts';
import type { IncomingSettlement } from './incoming-payments.ts';
import type { IncomingTerms } from './incoming-terms.ts';
import {
  checkDialect,
  checkSecret,
  createOffers,
  createSigner,
  type OfferSecret,
  requireSecret,
} from './offers.ts';
import type { Transfers } from './transaction.ts';

type MppOptions = {
  secret: OfferSecret;
  /** The protection space that clients see. Default: the host of `publicUrl`. */
  realm?: string;
};

const OPTIONS = { secret: true, realm: true } satisfies OptionNames<MppOptions>;

/** How long a request waits for its payment, as its clients expect. */
const WAIT_MS = 20_000;
const METHOD = 'solana';
const INTENT = 'charge';

/** The fields that the id of a challenge signs, in this order. An absent one is empty. */
type Challenge = Record<'realm' | 'method' | 'intent' | 'request' | 'expires' | 'digest' | 'opaque', string>;
const boundText = (challenge: Challenge): string => {
  const { realm, method, intent, request, expires, digest, opaque } = challenge;
  return [realm, method, intent, request, expires, digest, opaque].join('|');
};

/** The fee of an amount, as the platform charges it: rounded down, at least the minimum. */
const feeOf = (amount: bigint, { bps, min }: IncomingTerms['fee']): bigint => {
  const share = (amount * BigInt(bps)) / 10_000n;
  return share > BigInt(min) ? share : BigInt(min);
};

/** What the client pays: the fee to the platform, the rest to the vendor. Null: the fee is all. */
const transfersOf = (terms: IncomingTerms, { amount }: Bill): Transfers | null => {
  const fee = feeOf(BigInt(amount), terms.fee);
  if (fee >= BigInt(amount)) return null;
  const net = { owner: terms.payout_address, amount: String(BigInt(amount) - fee) };
  const split = { owner: terms.fee.fee_wallet, amount: String(fee) };
  return { feePayer: terms.fee_payer, mint: terms.mint, legs: fee === 0n ? [net] : [net, split] };
};

const requestOf = (terms: IncomingTerms, { amount }: Bill, { legs, feePayer }: Transfers, memo: string) => {
  const [net, ...others] = legs;
  const splits = others.map((leg) => ({ recipient: leg.owner, amount: leg.amount }));
  const request = {
    amount,
    currency: terms.mint,
    recipient: net!.owner,
    externalId: memo,
    methodDetails: {
      network: terms.mpp_network,
      decimals: terms.decimals,
      tokenProgram: terms.token_program,
      feePayer: true,
      feePayerKey: feePayer,
      ...(splits.length === 0 ? {} : { splits }),
    },
  };
  return base64Url(utf8(canonicalJson(request)));
};

/** The fields of a request of ours that name its transfers. */
type SentRequest = {
  amount: string;
  currency: string;
  recipient: string;
  methodDetails: { feePayerKey: string; splits?: { recipient: string; amount: string }[] };
};
const transfersIn = ({ amount, currency, recipient, methodDetails }: SentRequest): Transfers => {
  const { feePayerKey, splits = [] } = methodDetails;
  const others = splits.map((split) => ({ owner: split.recipient, amount: split.amount }));
  const net = others.reduce((left, split) => left - BigInt(split.amount), BigInt(amount));
  return {
    feePayer: feePayerKey,
    mint: currency,
    legs: [{ owner: recipient, amount: String(net) }, ...others],
  };
};

/** The credential of the scheme `Payment`. Null: none, for instance a token of the vendor's own. */
const credentialIn = (incoming: Incoming): string | null => {
  const schemes = incoming.header('authorization')?.split(',') ?? [];
  for (const scheme of schemes) {
    const [, credential] = /^\s*payment\s+(\S+)\s*$/i.exec(scheme) ?? [];
    if (credential !== undefined) return credential;
  }
  return null;
};

const challengeIn = (credential: string) => {
  const sent = objectOfBase64(credential);
  const { id, ...challenge } = objectOr(sent?.challenge) ?? {};
  const fields = ['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const;
  const texts = fields.map((name) => [name, challenge[name] ?? ''] as const);
  if (typeof id !== 'string' || texts.some(([, text]) => typeof text !== 'string')) return null;
  return { id, challenge: Object.fromEntries(texts) as Challenge, payload: objectOr(sent?.payload) };
};

const receiptOf = ({ tx_hash, redeemed_at }: IncomingSettlement): Record<string, string> => ({
  'payment-receipt': jsonBase64Url({
    status: 'success',
    method: METHOD,
    timestamp: redeemed_at,
    reference: tx_hash,
  }),
});

const createDialect = (paywall: PaywallContext, { secret, realm: given }: MppOptions): Dialect => {
  const { findTerms, serviceId, publicUrl } = paywall;
  const realm = given ?? new URL(publicUrl).host;
  const offers = createOffers(secret, `quittance mpp offer ${serviceId}`);
  const challenges = createSigner(secret, (each) => hmacKey(utf8(each)));
  /** What a challenge asks for, whose id is signed. Its offer shows that it is one of ours. */
  const askedIn = async ({ request, opaque }: Challenge): Promise<Asked | Refusal> => {
    const offer = await offers.read(objectOfBase64(opaque)?.offer);
    if (offer === null) return failed('invalid_offer');
    return { transfers: transfersIn(objectOfBase64(request) as unknown as SentRequest), offer };
  };

  return {
    name: 'mpp',
    offersAgain: true,
    offer: async (bill): Promise<Offer> => {
      // A settlement of MPP is redeemed as a whole, so it cannot buy several requests.
      const terms = bill.units === null ? await findTerms() : null;
      if (terms === null) return {};
      const transfers = transfersOf(terms, bill);
      if (transfers === null) return {};
      const { offer, memo, expiresAt } = await offers.create(bill.resource, transfers, memoTextOf(bill));
      const request = requestOf(terms, bill, transfers, memo);
      const opaque = base64Url(utf8(canonicalJson({ offer })));
      const expires = new Date(expiresAt * 1000).toISOString();
      const bound = { realm, method: METHOD, intent: INTENT, request, expires };
      const id = await challenges.sign(boundText({ ...bound, digest: '', opaque }));
      const parameters = Object.entries({ id, ...bound, opaque }).map(([name, text]) => `${name}="${text}"`);
      return { headers: { 'www-authenticate': `Payment ${parameters.join(', ')}` } };
    },

    read: async (incoming, bill) => {
      const sent = credentialIn(incoming);
      if (sent === null) return null;
      const found = challengeIn(sent);
      if (found === null) return failed('invalid_payload');
      const { id, challenge, payload } = found;
      // A client that broadcasts itself has not paid our fee payer's transaction.
      if (payload?.type !== 'transaction') return failed('invalid_payload');
      const { transaction } = payload;
      const isOwn = await challenges.isSigned(boundText(challenge), id);
      const credential = { transaction, asked: isOwn ? await askedIn(challenge) : failed('invalid_offer') };
      return presentIncoming(paywall, { rail: 'mpp', ...credential, waitMs: WAIT_MS, receiptOf }, bill);
    },
  };
};

/**
 * Offers the routes of a paywall to clients of the Machine Payments Protocol, method `solana`,
 * intent `charge`: `createPaywall({ dialects: [mpp({ secret })] })`. The platform co-signs and
 * settles; its fee is a split of the payment.
 * @throws TypeError if an option is unknown, the secret is too short, or the realm cannot be the
 *   text of a header
 */
export const mpp = (options: MppOptions): DialectFactory => {
  checkDialect('mpp', options, OPTIONS);
  checkSecret(options.secret);
  if (!/^[\x20-\x7e]*$/.test(options.realm ?? '') || /["\\|]/.test(options.realm ?? ''))
    throw new TypeError('realm must be printable ASCII without quotation mark, backslash and bar.');
  return (paywall) => {
    requireSecret(options.secret);
    return createDialect(paywall, options);
  };
};
