import type { ApiError } from '../../../sdk/src/main.ts';

/** Why a payment was refused, and what the person who pays can do. */

/** What can be done; the page has a link or a button for each. */
export type Todo =
  /** The ways to pay are shown, with a price that can be paid. */
  | 'again'
  | 'other_wallet'
  | 'account'
  | 'money'
  | 'allow'
  | 'limits'
  | 'approvals'
  | 'payments'
  | 'new_price'
  | 'vendor'
  | 'support';
export type Refusal = { text: string; todo: Todo; code?: string };

const expired: Refusal = { text: 'The price had expired. Pay the new one.', todo: 'again' };
const failed: Refusal = { text: 'The payment has failed, and no money moved. Pay again.', todo: 'again' };

/** Of wallets, by the codes of the paywall and the API. */
const OF_WALLETS: Record<string, Refusal> = {
  insufficient_funds: {
    text: 'Not enough USDC in your wallet. Add USDC to it, or pay with an account.',
    todo: 'account',
  },
  simulation_failed: {
    text: 'The chain refuses the payment. Your wallet may have no USDC: add some, or pay with an account.',
    todo: 'account',
  },
  offer_expired: expired,
  quote_expired: expired,
  blockhash_expired: { text: 'The signature came too late. Pay again.', todo: 'again' },
  amount_too_small: { text: 'The price has changed. Pay the new one.', todo: 'again' },
  payment_failed: failed,
  limit_exceeded: { text: 'A limit does not allow this payment. Change it in the console.', todo: 'limits' },
  delegation_inactive: {
    text: 'Your wallet allows no spending, or too little. Change that in the console.',
    todo: 'allow',
  },
  unknown_instruction: {
    text: 'Your wallet adds instructions that are not accepted. Use another wallet.',
    todo: 'other_wallet',
  },
  amount_mismatch: {
    text: 'Your wallet would have paid another amount, so nothing was paid. Use another wallet.',
    todo: 'other_wallet',
  },
  transaction_could_not_be_decoded: {
    text: 'Your wallet used a lookup table that cannot be read. Try again in half a minute, or use another wallet.',
    todo: 'other_wallet',
  },
  transaction_instructions_compute_price_instruction_too_high: {
    text: 'Your wallet sets a higher priority fee than is accepted. Lower it there, and pay again.',
    todo: 'again',
  },
  source_blocked: {
    text: 'Too many payments of your wallet are under way or have failed. Try again later, or pay with an account.',
    todo: 'account',
  },
  facilitator_credit_exhausted: {
    text: 'This vendor cannot take payments of wallets at the moment. Pay with an account.',
    todo: 'account',
  },
  vendor_frozen: {
    text: 'The vendor cannot receive payments at the moment. Ask the vendor.',
    todo: 'vendor',
  },
  service_closing: { text: 'The vendor accepts no new payments. Ask the vendor.', todo: 'vendor' },
  signing_paused: { text: 'New payments are paused. Try again later.', todo: 'again' },
  other_resource: { text: 'The payment was for another address. Pay for this one.', todo: 'again' },
  spent: { text: 'That payment was used before. Nothing was paid now.', todo: 'again' },
  settlement_expired: {
    text: 'That payment was not used in time, and cannot be used any more. Ask the vendor for a refund.',
    todo: 'vendor',
  },
};

/** Of accounts, by the code of the API's error. */
const OF_ACCOUNTS: Record<string, Refusal> = {
  insufficient_funds: { text: 'Not enough USDC in the wallet of your account. Add money.', todo: 'money' },
  delegation_inactive: {
    text: 'Your wallet does not allow this payment yet. Allow it, then pay.',
    todo: 'allow',
  },
  limit_exceeded: {
    text: 'This is more than your sign-in may pay. Raise the limit, or sign in again and pay within five minutes.',
    todo: 'limits',
  },
  approval_required: { text: 'This payment needs your approval.', todo: 'approvals' },
  approval_denied: { text: 'You have denied this payment.', todo: 'approvals' },
  approval_expired: { text: 'This payment was not approved in time. Get a new price.', todo: 'new_price' },
  quote_expired: { text: 'The price has expired. Nothing was paid. Get a new one.', todo: 'new_price' },
  quote_already_settled: {
    text: 'This price is paid or being paid. Look at your payments before you pay again.',
    todo: 'payments',
  },
  payment_failed: { ...failed, todo: 'new_price' },
  unauthorized: { text: 'Your session has ended. Sign in again.', todo: 'again' },
  reauthentication_required: {
    text: 'Sign in again: this needs a sign-in of the last five minutes.',
    todo: 'again',
  },
  forbidden: { text: 'Your account cannot pay at the moment.', todo: 'support' },
  rate_limited: { text: 'Too many requests. Wait a moment, then pay: you do not pay twice.', todo: 'again' },
  service_unavailable: {
    text: 'Quittance is not available at the moment. Pay again in a moment: you do not pay twice.',
    todo: 'again',
  },
  internal_error: {
    text: 'Something went wrong on our side. Pay again: you do not pay twice.',
    todo: 'again',
  },
};

const ownIn = <T>(table: Record<string, T>, key: string): T | undefined =>
  Object.hasOwn(table, key) ? table[key] : undefined;

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;

/** The refusal of a wallet's payment, by the reason that the message names, or by the code. */
export const ofWallet = (code: string, message: string): Refusal => {
  const found = [...message.split(/[: ]+/), code].find((each) => Object.hasOwn(OF_WALLETS, each));
  if (found !== undefined) return OF_WALLETS[found]!;
  const text = `The payment was refused (${code}). Nothing was paid. Use another wallet, or pay with an account.`;
  return { text, todo: 'account' };
};

/** The refusal of an account's payment. */
export const ofAccount = ({
  code,
  message,
  safeAction,
}: Pick<ApiError, 'code' | 'message' | 'safeAction'>): Refusal => {
  const known = ownIn(OF_ACCOUNTS, code);
  if (known !== undefined) return known;
  // Of a conflict only the message says what it is about.
  const text = sentence(message.replace(/\.$/, ''));
  return { text, todo: safeAction === 'new_quote' ? 'new_price' : 'support', code };
};

/** @param code a code, which anyone can have written into the address */
export const ofOrder = (code: string): Refusal =>
  ownIn(OF_WALLETS, code) ?? {
    text: `The vendor’s server says: ${code.slice(0, 64).replace(/[^\w.-]/g, ' ')}.`,
    todo: 'vendor',
  };
