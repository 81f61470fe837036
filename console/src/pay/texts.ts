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
  renewed: 'The price had expired. This is a new one, and it is the same.',
  repriced: (before: string, now: string) => `The price had expired. It was ${before}, and is ${now} now.`,
  elsewhere: 'This payment continues in another tab.',
  here: 'Continue here',
  verified: 'verified domain',
  test: 'TEST: no real money',
  wallets: 'Pay with a wallet',
  walletsAbout:
    'The wallet shows the amount and asks you to sign. You need USDC only: Quittance pays the network fee.',
  noChain: 'The chain cannot be read right now. Nothing was paid. Try again in a moment.',
  noWallet: 'This browser has no Solana wallet. Install one and reload this page:',
  noOffer: 'This vendor accepts Quittance accounts only.',
  account: 'Pay with an account',
  accountAbout: 'No wallet needed: sign in by e-mail, and create one here. Nothing is added to the price.',
  signIn: 'Sign in to pay',
  signInAgain: 'Sign in',
  signInToFollow: (email: string) =>
    `${email} has begun to pay. Sign in to this account again to see the outcome; you do not pay twice.`,
  signOut: 'Sign out',
  phone: 'Pay with your phone',
  phoneWallet:
    'Scan this code with the wallet app of your phone, and confirm there. Keep this page open: it shows the receipt.',
  app: 'Pay with a wallet app',
  appAbout: 'You need USDC only: Quittance pays the network fee.',
  appPay: (price: string) => `Pay ${price} in your wallet app`,
  appBack: 'Confirm there, and come back: this page shows the receipt.',
  appBrowse: 'Nothing opened? Open this page in the browser of your wallet:',
  appBrowseOnly: 'Open this page in the browser of your wallet, and pay there:',
  appInstall: 'No wallet yet? Install one:',
  openIn: (app: string) => `Open in ${app}`,
  phoneOnce:
    'This link is for one payment, so your phone opens this page. Scan the code with the browser of your wallet app.',
  phonePending: 'Confirm the payment on your phone. This page shows the receipt when it is paid.',
  phoneFailed: 'The chain has refused the payment of your phone, and no money moved. Pay again.',
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

/** The three steps of an account that cannot pay yet, and what they do. */
export const STEPS = {
  wallet: {
    title: 'Get a wallet',
    about: 'Create one here with a passkey, or link the wallet of this browser. You keep the key.',
    done: (name: string) => `Paid from ${name}.`,
  },
  money: {
    title: 'Add money',
    about: (missing: string) => `You need ${missing} more. This page continues when it has arrived.`,
    done: (balance: string) => `The wallet has ${balance}.`,
  },
  pay: {
    title: 'Pay',
    about: 'Once more with your passkey or wallet. You allow this price, and nothing beyond it.',
  },
} as const;

export const ACCOUNT = {
  create: 'Create a wallet',
  link: 'Link a wallet',
  testMoney: 'Get test money',
  testMoneyDone: '100 test USDC received.',
  waiting: 'Waiting for the chain…',
  buy: 'Buy by card or bank',
  send: 'Or send USDC on Solana to this address:',
  sendTest: 'Or send test USDC to this address. Real USDC sent here is lost.',
  qr: 'QR code of the address of your wallet',
  loading: 'Reading your wallet…',
  from: (name: string, balance: string) => `From ${name}, which has ${balance}.`,
  pay: (price: string, email: string) => `Pay ${price} as ${email}`,
} as const;

/** The links and buttons of what can be done about a refusal. */
export const TODO = {
  account: 'Pay with an account',
  money: 'Add money',
  allow: 'Open your wallet',
  limits: 'Change your limits',
  approvals: 'Open your approvals',
  payments: 'Look at your payments',
  vendor: (host: string) => `Open ${host}`,
  support: 'What this means',
  otherWallet: 'Wallets that work:',
} as const;
