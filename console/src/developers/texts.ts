/** The words of the page for developers. */

/** Documents of this gateway: address, name, what is in it. */
export const DOCUMENTS = [
  ['/docs/guides', 'Guides', 'Quickstarts for vendors, buyers and agents, and one page for each topic.'],
  ['/docs', 'Reference', 'Every operation with its fields, errors and samples.'],
  ['/docs/errors', 'Errors', 'Every error code: its cause, whether money moved, and what to do.'],
  [
    '/docs/guides/webhooks',
    'Webhooks',
    'Verify deliveries, the events with their payloads, the retry schedule.',
  ],
  [
    '/docs/guides/test-environment',
    'Test environment',
    'Amounts that make a payment slow, refused or reversed.',
  ],
  ['/docs/guides/changelog', 'Changelog', 'What is new.'],
  ['/openapi.json', 'OpenAPI', 'The API for generators and clients.'],
  ['/llms.txt', 'llms.txt', 'The API for a language model.'],
] as const;

/** Each kind of credential: what it can do, what it cannot, and where it is managed. */
export const CREDENTIALS = [
  {
    kind: 'Service key',
    prefix: 'vendor_',
    can: 'Creates quotes, verifies, redeems and consumes payments of one service, and prepares its refunds.',
    cannot: 'It cannot pay, move money from your wallet, or read your other services.',
    life: 'Until you rotate it. The previous key works for the grace period of the service.',
    to: '/services',
    where: 'Services',
  },
  {
    kind: 'Delegate key',
    prefix: 'dk_',
    can: 'Pays quotes from one wallet within its limits, and reads its own payments.',
    cannot: 'It cannot change its limits, withdraw, or read the payments of others.',
    life: 'Until it expires, or you pause, rotate or revoke it.',
    to: '/delegates',
    where: 'Delegates',
  },
  {
    kind: 'Sign-in',
    prefix: '',
    can: 'Does what this console does. Keys, limits and payout addresses change only with a sign-in of the last minutes.',
    cannot: 'It cannot sign with a wallet: your passkey, your recovery code or your own wallet does that.',
    life: 'An access token works for some minutes. A sign-in ends when you revoke it, or by itself.',
    to: '/account',
    where: 'Account',
  },
] as const;

export const COMMANDS = [
  ['login', 'Signs this machine in. You confirm a code in this console.'],
  ['listen', 'Forwards the events of your account to a server on your machine, signed like deliveries.'],
  ['trigger', 'Causes a real event with test money, so that there is something to receive.'],
] as const;

/** The words of the request log. */
export const REQUESTS = {
  about: 'The newest calls of your keys and programs, with the error of each refused one.',
  title: 'Calls',
  onlyRefused: 'Only refused calls',
  limits:
    'The newest 100 of the last 7 days. This console is not in it. A call with a wrong key belongs to no account, so it is not in it either.',
  none: 'No call yet',
  noneRefused: 'No refused call',
  first: 'A call with one of your keys appears here within a second.',
} as const;

/** The words of the list of keys. */
export const KEYS = {
  title: 'Your keys',
  about:
    'Rotate a key that nobody uses, and one that you do not recognise. The last use is exact to an hour.',
  none: 'No key yet',
  first: 'A service or a delegate has the first one.',
} as const;

/** The words beside the code that verifies a delivery. */
export const VERIFY = {
  summary: 'Verify a delivery in your server',
  label: 'webhook.ts',
} as const;
