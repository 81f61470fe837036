import { objectOr } from '../../../sdk/src/checks/encoding.ts';
import { BadTokenError, createTokenVerifier, type QuoteClaims } from '../../../sdk/src/checks/tokens.ts';
import { ApiError, type Client } from '../../../sdk/src/main.ts';
import { loadPublishedKeys } from '../lib/published-keys.ts';
import { TEXTS } from './texts.ts';

/**
 * The quote of a payment link (docs/adr/0075). What the page shows, and what a wallet signs, comes
 * from the signed quote, which names the link of the page's address.
 */

type Environment = 'test' | 'live';
export type LinkAddress = { environment: Environment; paymentLinkId: string };

/** The link in the path of the page's address. Null: the page has an order of a vendor. */
export const linkIn = (path: string): LinkAddress | null => {
  const [, environment, paymentLinkId] = /^\/pay\/(test|live)\/(pl_[0-9a-z]{26})$/.exec(path) ?? [];
  return paymentLinkId === undefined ? null : { environment: environment as Environment, paymentLinkId };
};

/** What was opened, verified. */
export type Opened = {
  token: string;
  claims: QuoteClaims;
  title: string;
  memo: string;
  isSingleUse: boolean;
  /** Null: the vendor has named no page. */
  successUrl: string | null;
  /** Epoch milliseconds. */
  expiresAt: number;
};
/**
 * `isPaid`: the link is for one payment, which was made. `isTransient`: the same call may succeed.
 */
export type LinkRead = { opened: Opened } | { problem: string; isPaid?: boolean; isTransient?: boolean };

const isWeb = (url: string): boolean => /^https?:\/\//i.test(url) && URL.canParse(url);

const openedOf = (token: string, claims: QuoteClaims, { paymentLinkId }: LinkAddress): LinkRead => {
  const { payment_link_id, title, memo, success_url, single_use } =
    objectOr(claims.scope?.payment_link) ?? {};
  if (payment_link_id !== paymentLinkId || typeof title !== 'string' || typeof memo !== 'string')
    return { problem: TEXTS.badQuote };
  const successUrl = typeof success_url === 'string' && isWeb(success_url) ? success_url : null;
  const expiresAt = Date.parse(claims.expires_at);
  const isSingleUse = single_use === true;
  return { opened: { token, claims, title, memo, isSingleUse, successUrl, expiresAt } };
};

const problemOf = (error: unknown): LinkRead => {
  if (!(error instanceof ApiError)) return { problem: TEXTS.noAnswer, isTransient: true };
  if (error.code === 'not_found') return { problem: TEXTS.noLink };
  if (error.code === 'quote_already_settled') return { problem: TEXTS.linkPaid, isPaid: true };
  return error.code === 'conflict'
    ? { problem: TEXTS.linkEnded }
    : { problem: TEXTS.noAnswer, isTransient: true };
};

/**
 * Opens a link.
 * @param keys loads the public keys of the API
 */
export const openLink = async (
  client: Pick<Client, 'quote'>,
  link: LinkAddress,
  keys = loadPublishedKeys,
): Promise<LinkRead> => {
  const { environment, paymentLinkId: payment_link_id } = link;
  let token: string;
  try {
    token = (await client.quote.openPaymentLink({ payment_link_id, environment })).quote_token;
  } catch (error) {
    return problemOf(error);
  }
  const published = await keys().catch(() => null);
  if (published === null) return { problem: TEXTS.noKeys };
  try {
    const verify = createTokenVerifier(environment, async () => published);
    return openedOf(token, await verify('quote', token), link);
  } catch (error) {
    return { problem: error instanceof BadTokenError ? TEXTS.badQuote : TEXTS.oldBrowser };
  }
};

/** The address of the vendor's page, with the settlement that it may read by its key. */
export const successAddress = (url: string, settlementId: string): string => {
  const address = new URL(url);
  address.searchParams.set('quittance_settlement', settlementId);
  return address.href;
};
