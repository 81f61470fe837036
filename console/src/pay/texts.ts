/** The words of the payment page. */
export const TEXTS = {
  noOrder: 'This payment link is incomplete. Open the page that you want to buy again.',
  otherAddress: 'The quote is for another address than the one this page would return to. Nothing was paid.',
  badQuote: 'The quote of this order was not signed by this installation. Nothing was paid.',
  noKeys: 'The public keys could not be loaded. Check your connection and reload.',
  oldBrowser: 'This browser cannot verify Ed25519 signatures. Use a current browser.',
  reading: 'Checking the quote…',
  noLink: 'This payment link does not exist. Check the address.',
  linkPaid: 'This payment link is for one payment, and is paid. Nothing was paid now.',
  linkEnded: 'This payment link is not active any more. Ask the vendor for a new one.',
  noAnswer: 'The payment link could not be opened. Check your connection and try again.',
  tryAgain: 'Try again',
  confirming: 'Confirming your payment. Keep this page open; you do not pay twice…',
  paid: 'Paid',
  paidAbout: 'The payment is confirmed on the chain. Save the receipt: it is signed, and cannot be changed.',
  receipt: 'Open the receipt',
  otherPayment:
    'A payment was confirmed whose receipt is not of this link, price and address. Ask the vendor before you pay again.',
  onward: (host: string) => `Continue to ${host}`,
  payAgain: 'Pay once more',
  expired: 'This price has expired. Nothing was paid.',
  newPrice: 'Get a new price',
  test: 'TEST: no real money',
  wallets: 'Pay with a wallet',
  walletsAbout:
    'The wallet shows the amount and asks you to sign. You need USDC only: Quittance pays the network fee.',
  noChain: 'The chain cannot be read right now. Nothing was paid. Try again in a moment.',
  noWallet: 'This browser has no Solana wallet. Install one, or pay with an account.',
  noOffer: 'This vendor accepts Quittance accounts only.',
  account: 'Pay with an account',
  accountAbout: 'From the wallet of your account, within its limits. Nothing is added to the price.',
  signIn: 'Sign in to pay',
  signInToFollow: (email: string) =>
    `${email} has begun to pay. Sign in to this account again to see the outcome; you do not pay twice.`,
  signOut: 'Sign out',
  phone: 'Pay on your phone',
  phoneWallet:
    'Scan this code with the wallet app of your phone, and confirm there. You need USDC only: Quittance pays the network fee. Keep this page open: it shows the receipt.',
  phoneOnce:
    'This link is for one payment, so your phone opens this page. Scan the code with the browser of your wallet app.',
  phonePending: 'Confirm the payment on your phone. This page shows the receipt when it is paid.',
  phoneFailed: 'The chain has refused the payment of your phone, and no money moved. Scan the code again.',
  phoneAbout: 'Scan this code with the browser of your wallet app. The purchase then opens on the phone.',
  connecting: (wallet: string) => `Waiting for ${wallet}…`,
  signing: (wallet: string) => `Confirm in ${wallet}…`,
  paying: 'Paying…',
  leaving: (host: string) => `Paid. Waiting for ${host}…`,
  sent: (host: string) => `Signed. ${host} is confirming the payment…`,
  noAccount: (wallet: string) => `${wallet} has no account that can sign. Nothing was paid.`,
  refused: (wallet: string) => `${wallet} did not sign. Nothing was paid.`,
  changed: (wallet: string) =>
    `${wallet} returned another transaction than the one this page has built, so it was not sent. Nothing was paid.`,
  added: (wallet: string) =>
    `${wallet} added instructions that are not accepted, so it was not sent. Nothing was paid. Use another wallet.`,
} as const;

/** Why a payment was refused, by the codes of the paywall and the API. */
const REASONS: Record<string, string> = {
  insufficient_funds: 'Not enough USDC in your wallet.',
  offer_expired: 'The price had expired.',
  amount_too_small: 'The price has changed.',
  blockhash_expired: 'The signature came too late.',
  simulation_failed: 'The chain refuses the payment. Your wallet may have no USDC.',
  payment_failed: 'The payment has failed, and no money moved.',
  limit_exceeded: 'The limits of your account do not allow this payment.',
  delegation_inactive: 'Your wallet allows no spending, or too little. Change that in the console.',
  unknown_instruction: 'Your wallet adds instructions that are not accepted. Use another wallet.',
  amount_mismatch: 'Your wallet would have paid another amount, so nothing was paid.',
  transaction_could_not_be_decoded:
    'Your wallet used a lookup table that cannot be read. Try again in half a minute, or use another wallet.',
  transaction_instructions_compute_price_instruction_too_high:
    'Your wallet sets a higher priority fee than is accepted. Lower it there, and pay again.',
  source_blocked: 'Too many payments of your wallet are under way or have failed. Try again later.',
  vendor_frozen: 'The vendor cannot receive payments at the moment.',
  service_closing: 'The vendor accepts no new payments.',
  facilitator_credit_exhausted: 'The vendor has to pay its fees before it can receive more payments.',
  signing_paused: 'New payments are paused. Try again later.',
  quote_expired: 'The price had expired.',
  other_resource: 'The payment was for another address.',
  spent: 'That payment was used before.',
  settlement_expired: 'That payment was not used in time, and cannot be used any more.',
};

/** The sentence for an error of the API, by the reason that its message names, or by its code. */
export const sentenceOf = (code: string, message: string): string => {
  const reason = [...message.split(/[: ]+/), code].find((each) => Object.hasOwn(REASONS, each));
  return reason === undefined ? `The payment was refused (${code}). Nothing was paid.` : REASONS[reason]!;
};

/** @param code a code, which anyone can have written into the address */
export const reasonOf = (code: string): string =>
  (Object.hasOwn(REASONS, code) ? REASONS[code] : undefined) ??
  `The vendor’s server says: ${code.slice(0, 64).replace(/[^\w.-]/g, ' ')}.`;
