import {
  base64Url,
  bodyDigest,
  canonicalJson,
  hmacKey,
  jsonBase64Url,
  objectOfBase64,
  objectOr,
  utf8,
} from '../../checks/encoding.ts';
import { memoTextOf } from '../../checks/payment-memo.ts';
import type { OptionNames } from '../../options.ts';
import { failed, isRefusal, type Refusal } from '../base/answers.ts';
import {
  type Bill,
  type Dialect,
  type DialectFactory,
  isFixedPrice,
  type Offer,
  type PaywallContext,
} from '../base/dialect.ts';
import type { Incoming } from '../base/incoming.ts';
import type { IncomingSettlement } from '../base/incoming-payments.ts';
import type { IncomingTerms } from '../base/incoming-terms.ts';
import { type Asked, presentIncoming } from './incoming-dialect.ts';
import {
  checkDialect,
  checkSecret,
  createOffers,
  createSigner,
  type OfferSecret,
  requireSecret,
} from './offers.ts';
import { PROBLEM_JSON, problemOf } from './problems.ts';
import type { Transfers } from './transaction.ts';

type MppOptions = {
  secret: OfferSecret;
  /** The protection space that clients see. Default: the host name of `publicUrl`. */
  realm?: string;
};

const OPTIONS = { secret: true, realm: true } satisfies OptionNames<MppOptions>;

/** How long a request waits for its payment, as its clients expect. */
const WAIT_MS = 20_000;
const METHOD = 'solana';
const INTENT = 'charge';

/** The field of a payment beside credentials of the request's own in Authorization. */
const OWN_FIELD = 'Payment-Authorization';

/**
 * The fields that the id of a challenge signs, in this order. An absent one is empty, but without a
 * header there is no field for it, as in challenges of earlier drafts.
 */
const BOUND = ['realm', 'method', 'intent', 'request', 'expires', 'digest', 'opaque'] as const;
type Challenge = Record<(typeof BOUND)[number], string> & { header?: string };
const boundText = (challenge: Challenge): string => {
  const { header } = challenge;
  return [...BOUND.map((name) => challenge[name]), ...(header === undefined ? [] : [header])].join('|');
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

/** The credential of the scheme `Payment` in a header. Null: none, for instance another scheme. */
const paymentIn = (header: string | null): string | null => {
  for (const scheme of header?.split(',') ?? []) {
    const [, credential] = /^\s*payment\s+(\S+)\s*$/i.exec(scheme) ?? [];
    if (credential !== undefined) return credential;
  }
  return null;
};

/** The credential of a request, and the field that has it. */
const credentialIn = ({ header }: Incoming): { credential: string; field: string | undefined } | null => {
  const own = paymentIn(header(OWN_FIELD.toLowerCase()));
  if (own !== null) return { credential: own, field: OWN_FIELD };
  const credential = paymentIn(header('authorization'));
  return credential === null ? null : { credential, field: undefined };
};

const challengeIn = (credential: string) => {
  const sent = objectOfBase64(credential);
  const payload = objectOr(sent?.payload);
  const { id, header, ...challenge } = objectOr(sent?.challenge) ?? {};
  const texts = BOUND.map((name) => [name, challenge[name] ?? ''] as const);
  const isText = [id, header ?? '', ...texts.map(([, text]) => text)].every(
    (text) => typeof text === 'string',
  );
  if (!isText || payload === null) return null;
  const named = header === undefined ? {} : { header };
  return { id: id as string, challenge: { ...Object.fromEntries(texts), ...named } as Challenge, payload };
};

/**
 * The digest that binds a challenge to the body of its request (RFC 9530). Empty: there is no body,
 * or only a parsed one, whose bytes a client cannot know.
 */
const digestOf = async (incoming: Incoming): Promise<string> => {
  const bytes = await incoming.body(Number.POSITIVE_INFINITY);
  const isUnknown = bytes === null || isRefusal(bytes) || incoming.isParsed?.() === true;
  return isUnknown || bytes.length === 0 ? '' : bodyDigest(bytes);
};

/** The credentials of the request's own that a payment in Authorization would replace. */
const hasOwnCredentials = ({ header }: Incoming): boolean =>
  header('authorization') !== null && paymentIn(header('authorization')) === null;

const receiptOf = ({ tx_hash, redeemed_at }: IncomingSettlement): Record<string, string> => ({
  'payment-receipt': jsonBase64Url({
    status: 'success',
    method: METHOD,
    timestamp: redeemed_at,
    reference: tx_hash,
  }),
});

/** Makes the challenges of a paywall, and reads what credentials repeat of them. */
const createChallenges = ({ serviceId, publicUrl }: PaywallContext, { secret, realm: given }: MppOptions) => {
  const realm = given ?? new URL(publicUrl).hostname;
  const offers = createOffers(secret, `quittance mpp offer ${serviceId}`);
  const signer = createSigner(secret, (each) => hmacKey(utf8(each)));
  return {
    create: async (bill: Bill, incoming: Incoming, terms: IncomingTerms, transfers: Transfers) => {
      const { offer, memo, expiresAt } = await offers.create(bill.resource, transfers, memoTextOf(bill));
      const challenge: Challenge = {
        realm,
        method: METHOD,
        intent: INTENT,
        request: requestOf(terms, bill, transfers, memo),
        expires: new Date(expiresAt * 1000).toISOString(),
        digest: await digestOf(incoming),
        opaque: base64Url(utf8(canonicalJson({ offer }))),
        ...(hasOwnCredentials(incoming) && { header: OWN_FIELD }),
      };
      const id = await signer.sign(boundText(challenge));
      const { digest, ...others } = challenge;
      const parameters = Object.entries({ id, ...others, ...(digest !== '' && { digest }) });
      const text = `Payment ${parameters.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
      return { id, text };
    },
    /** What a challenge asks for. Its id shows that it is one of ours. */
    read: async (
      { id, challenge }: { id: string; challenge: Challenge },
      incoming: Incoming,
      field: string | undefined,
    ): Promise<Asked | Refusal> => {
      if (!(await signer.isSigned(boundText(challenge), id))) return failed('invalid_offer');
      if (challenge.header !== field) return failed('other_field');
      if (challenge.digest !== (await digestOf(incoming))) return failed('other_body');
      const offer = await offers.read(objectOfBase64(challenge.opaque)?.offer);
      if (offer === null) return failed('invalid_offer');
      return {
        transfers: transfersIn(objectOfBase64(challenge.request) as unknown as SentRequest),
        offer,
      };
    },
  };
};

const createDialect = (paywall: PaywallContext, options: MppOptions): Dialect => {
  const challenges = createChallenges(paywall, options);
  return {
    name: 'mpp',
    offersAgain: true,
    offer: async (bill, incoming, refused): Promise<Offer> => {
      // A settlement of MPP is redeemed as a whole, so it cannot buy several requests.
      const terms = isFixedPrice(bill) ? await paywall.findTerms() : null;
      if (terms === null) return {};
      const transfers = transfersOf(terms, bill);
      if (transfers === null) return {};
      const { id, text } = await challenges.create(bill, incoming, terms, transfers);
      return {
        body: problemOf(id, refused),
        headers: { 'content-type': PROBLEM_JSON },
        challenges: [{ method: METHOD, intent: INTENT, text }],
      };
    },

    read: async (incoming, bill) => {
      const sent = credentialIn(incoming);
      if (sent === null) return null;
      const found = challengeIn(sent.credential);
      if (found === null) return failed('malformed_credential');
      const { type, transaction } = found.payload;
      // A client that broadcasts itself has not paid our fee payer's transaction.
      if (type !== 'transaction') return failed('invalid_payload');
      const asked = await challenges.read(found, incoming, sent.field);
      return presentIncoming(paywall, { rail: 'mpp', transaction, asked, waitMs: WAIT_MS, receiptOf }, bill);
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
