/** The words of the page for developers. */

/** Documents of this gateway: address, name, what is in it. */
export const DOCUMENTS = [
  ['/docs/guides', 'Guides', 'Quickstarts for vendors, buyers and agents, and one page for each topic.'],
  ['/docs', 'Reference', 'Every operation with fields, errors and samples.'],
  ['/docs/errors', 'Errors', 'Every error code: its cause, whether money moved, and what to do.'],
  ['/docs/guides/webhooks', 'Webhooks', 'Verify deliveries, event payloads, retry schedule.'],
  [
    '/docs/guides/test-environment',
    'Test environment',
    'Amounts that make a payment slow, refused or reversed.',
  ],
  ['/docs/guides/changelog', 'Changelog', 'What is new.'],
  ['/openapi.json', 'OpenAPI', 'For code generators and clients.'],
  ['/llms.txt', 'llms.txt', 'For language models.'],
] as const;

/** Each kind of credential: what it can do, what it cannot, and where it is managed. */
export const CREDENTIALS = [
  {
    kind: 'Service key',
    prefix: 'vendor_',
    can: 'Creates quotes, redeems payments and prepares refunds for one service.',
    cannot: 'It cannot pay, move money from your wallet, or read your other services.',
    life: 'Valid until you rotate it. The old key works for the grace period.',
    to: '/services',
    where: 'Services',
  },
  {
    kind: 'Agent key',
    prefix: 'dk_',
    can: 'Pays quotes from one wallet within limits, and reads its own payments.',
    cannot: 'It cannot change limits, withdraw or read other payments.',
    life: 'Valid until it expires, or you pause, rotate or revoke it.',
    to: '/delegates',
    where: 'Agents',
  },
  {
    kind: 'Sign-in',
    prefix: '',
    can: 'Does everything in this console. Keys, limits and payout addresses need a recent sign-in.',
    cannot: 'It cannot sign for a wallet: that takes your passkey, recovery code or own wallet.',
    life: 'Access tokens last minutes. Sessions end when you revoke them or after inactivity.',
    to: '/account',
    where: 'Account',
  },
] as const;

export const COMMANDS = [
  ['login', 'Signs in this machine. Confirm a code in the console.'],
  ['listen', 'Forwards your events to a local server, signed like deliveries.'],
  ['trigger', 'Triggers a real event with test money.'],
] as const;

/** The words of the request log. */
export const REQUESTS = {
  about: 'Latest API calls of your keys, with errors.',
  title: 'Calls',
  onlyRefused: 'Failed calls only',
  limits:
    'Latest 100 of the last 7 days. Calls by this console and calls with an invalid key are not listed.',
  none: 'No calls yet',
  noneRefused: 'No failed calls',
  first: 'Calls with your keys appear here within a second.',
} as const;

/** The words of the list of keys. */
export const KEYS = {
  title: 'Your keys',
  about: 'Rotate keys you do not use or recognise. Last use is rounded to the hour.',
  none: 'No keys yet',
  first: 'Create a service or an agent to get one.',
} as const;

/** The words beside the code that verifies a delivery. */
export const VERIFY = {
  summary: 'Verify a delivery in your server',
  label: 'webhook.ts',
} as const;
