import { expect, test } from '@jest/globals';
import { moment } from './mail-text.ts';
import { changesMail, KINDS, MAILED_REASONS, noticeMail } from './notices.ts';

const name = '<img src=x onerror=alert(1)>"&';
const payment = {
  settlement_id: 'id',
  amount: '2500000',
  fee: '12500',
  net: '2487500',
  at: '2026-11-21T10:00:00.000Z',
};
const details = {
  ...{ owner_kind: 'service', owner_id: 'id', name, until: 'now', payout_address: 'id', effective_at: 'now' },
  ...{ ...payment, service: name, service_id: 'id', delegate: name, delegate_id: 'id' },
};
const now = new Date('2026-11-21T14:30:00.000Z');
const notice = { to: 'ada@example.com', environment: 'live', now, details } as const;

test.each([
  'key_created',
  'key_rotated',
  'key_revealed',
  'keys_revoked',
  'payout_changed',
  'payment_made',
  'payment_received',
])('%s: a name is text, not markup, and the mail has no link', (kind) => {
  const mail = noticeMail(kind, notice, null)!;
  expect(mail.text).toContain(details.name);
  expect(mail.html).not.toContain('<img');
  expect(mail.html).not.toContain('<a ');
  expect(mail.subject).not.toContain(details.name);
  expect(`${mail.text}${mail.html}`).not.toContain('undefined');
});

test.each([
  ['gone', 'answered 410'],
  ['failing', 'failed for five days'],
])('a disabled endpoint (%s) is named with the reason and without a link', (reason, part) => {
  const off = { endpoint_id: 'whe_1', host: 'hooks.example.com<b>', reason, at: payment.at };
  const mail = noticeMail('webhook_disabled', { ...notice, details: off }, null)!;
  expect(mail.text).toContain(part);
  for (const value of ['hooks.example.com', '10:00 UTC']) expect(mail.text).toContain(value);
  expect(mail.html).not.toMatch(/<b>|<a /);
  expect(`${mail.text}${mail.html}`).not.toContain('undefined');
});

test('a payment to a vendor without an account names no service', () => {
  const { service: _name, service_id: _id, ...outgoing } = details;
  const mail = noticeMail('payment_made', { ...notice, details: outgoing }, null)!;
  expect(mail.text).toContain('paid 2.50 USDC to a vendor that does not use Quittance, by the agent');
});

test('a stranger’s name cannot reorder the text around it', () => {
  const mail = noticeMail(
    'payment_made',
    { ...notice, details: { ...details, service: 'A\u202eB\u2066' } },
    null,
  )!;
  expect(mail.text).toContain('to the service “AB” (id)');
  expect(`${mail.text}${mail.html}`).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
});

test('a stranger’s name contains no link and does not end its own quotation', () => {
  const service =
    'Paid” (id). Frozen: see https://evil.example/in, http://1 or mail a@evil.example. “St. Ada';
  const mail = noticeMail('payment_made', { ...notice, details: { ...details, service } }, null)!;
  expect(mail.text).toContain('“Paid" (id). Frozen: see https[:]//evil[.]example/in, ');
  expect(mail.text).toContain('"St. Ada” (id)');
  expect(`${mail.text}${mail.html}`).not.toMatch(/https?:\/\/|evil\.example/);
});

test('a link is in the text and, escaped, in the HTML, and a mail of the test environment names the environment', () => {
  const url = 'https://example.com/reveal?service=1&x="#token=rv_test_a';
  const mail = noticeMail(
    'key_reveal',
    { ...notice, environment: 'test' },
    { url, label: 'Show the <key>' },
  )!;
  expect(mail.text).toContain(`${url}\n`);
  expect(mail.html).toContain('>Show the &#60;key&#62;</a>');
  expect(mail.html).toContain('href="https://example.com/reveal?service=1&#38;x=&#34;#token=rv_test_a"');
  expect(mail.text).toContain('Test mode');
});

test.each(['sign_in', 'constructor', ''])('%j is not a kind of notice', (kind) => {
  expect(noticeMail(kind, notice, null)).toBeNull();
});

const A = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const B = 'Vote111111111111111111111111111111111111111';
const approval = {
  amount: '2500000',
  payees: JSON.stringify([{ address: A, amount: '2500000' }]),
  service: name,
  delegate: name,
  delegate_id: 'del_1',
  expires_at: payment.at,
};
const page = { url: 'https://example.com/console/approvals/apr_1', label: 'Show the payment' };

test('a payment that waits: amount, payee, delegate and what it says, all as text, with one link', () => {
  const resource = `https://evil.example/${'x'.repeat(300)}<img src=x>”`;
  const mail = noticeMail('approval_requested', { ...notice, details: { ...approval, resource } }, page)!;
  for (const value of ['2.50 USDC', `The money would go to ${A}.`, name, '10:00 UTC']) {
    expect(mail.text).toContain(value);
  }
  expect(mail.text).toContain('The agent says it pays for “https[:]//evil[.]example/');
  expect(mail.text.replace(page.url, '')).not.toMatch(/https?:\/\//);
  expect(mail.html).not.toContain('<img');
  expect(mail.html.match(/<a /g)).toHaveLength(1);
  expect(mail.text.length).toBeLessThan(1200);
  expect(`${mail.text}${mail.html}`).not.toContain('undefined');
});

test('a payment that waits and is split: each address with its part', () => {
  const payees = JSON.stringify([
    { address: A, amount: '1' },
    { address: B, amount: '2499999' },
  ]);
  const mail = noticeMail('approval_requested', { ...notice, details: { ...approval, payees } }, page)!;
  expect(mail.text).toContain(
    `The money would go to 2 addresses: 0.000001 USDC to ${A}, 2.499999 USDC to ${B}.`,
  );
});

test('the first payment to one of several payees says what it got, and of what it is a part', () => {
  const part = { ...{ amount: '2499999', pay_to: B, at: payment.at }, total: '2500000', payees: '2' };
  const { text } = noticeMail('first_payment', { ...notice, details: part }, null)!;
  expect(text).toContain(
    `paid 2.499999 USDC to a vendor that does not use Quittance at the address ${B} for`,
  );
  expect(text).toContain('It is a part of a payment of 2.50 USDC to 2 addresses.');
});

test('a payment that waits, without what the delegate says', () => {
  const details = { ...approval, service_id: 'id' };
  const mail = noticeMail('approval_requested', { ...notice, details }, page)!;
  expect(mail.text).toContain(`to the service “${name}” (id).`);
  expect(mail.text).not.toContain('says');
});

const declined = {
  ...{
    amount: '5000000',
    at: payment.at,
    limit: '10000000',
    left: '2000000',
    resets_at: '2026-11-22T00:00:00.000Z',
  },
  ...{ delegate: name, delegate_id: 'del_1', service: name, service_id: 'id' },
};
const delegates = { url: 'https://example.com/console/delegates', label: 'Show the delegates' };
const mailOf = (details: Record<string, string>) =>
  noticeMail('payment_declined', { ...notice, details }, delegates)!;

test.each([...MAILED_REASONS])(
  'a declined payment (%s): who, how much, to whom, why and what to do',
  (reason) => {
    const mail = mailOf({ ...declined, reason });
    for (const value of ['5.00 USDC', name, '10:00 UTC', 'nothing was paid.', 'in the console, under'])
      expect(mail.text).toContain(value);
    expect(mail.subject).not.toContain(name);
    expect(mail.html).not.toContain('<img');
    expect(mail.html.match(/<a /g)).toHaveLength(1);
    expect(`${mail.text}${mail.html}`).not.toContain('undefined');
  },
);

test('a declined payment names what is left, and until when', () => {
  expect(mailOf({ ...declined, reason: 'daily' }).text).toContain(
    'Daily limit of the agent: 2.00 USDC of 10.00 USDC are left until 00:00 UTC on 22 November 2026.',
  );
});

test('a payment that was declined because there is no wallet has no figures', () => {
  const { limit: _limit, left: _left, resets_at: _resets, ...without } = declined;
  expect(mailOf({ ...without, reason: 'allowance' }).text).toContain(
    'The agent has no wallet with a spending limit.',
  );
});

test.each([
  ['2026-11-21T14:07:47.009Z', '14:07 UTC'],
  ['2026-11-21T00:00:00.000Z', '00:00 UTC'],
  ['2026-11-22T00:00:00.000Z', '00:00 UTC on 22 November 2026'],
  ['2025-11-21T14:07:00.000Z', '14:07 UTC on 21 November 2025'],
  ['now', 'now'],
])('%s is %s for people', (iso, words) => expect(moment(iso, now)).toBe(words));

test('no mail has a path of the API, a time of a machine or two buttons', () => {
  const all = { ...details, ...approval, ...declined, reason: 'daily', client_name: 'x', label: 'x' };
  const more = { ...all, per_payment: '1', daily: '2', raised: 'yes', day: '21 November', spent: '1' };
  const every = { ...more, threshold: '1', host: 'h', erase_at: payment.at, allowed_ips: 'x', widened: 'no' };
  for (const kind of KINDS) {
    const mail = noticeMail(kind, { ...notice, details: { ...every, public_key: 'w' } }, page)!;
    expect([kind, mail.text]).toEqual([
      kind,
      expect.not.stringMatching(/\/v1\/|GET |PATCH |T\d\d:\d\d:\d\d/),
    ]);
    expect(mail.html.match(/<a /g)).toHaveLength(1);
    expect([kind, mail.text]).toEqual([kind, expect.not.stringContaining('undefined')]);
  }
});

test('several changes of one place are one mail with their times', () => {
  const change = (name: string, at: string) => ({
    kind: 'key_created',
    at,
    details: { owner_kind: 'service', owner_id: 'id', name, address: '203.0.113.0/24', agent: 'Firefox' },
  });
  const changes = Array.from({ length: 22 }, (_, at) =>
    change(`API ${at}`, `2026-11-21T14:${String(at).padStart(2, '0')}:00.000Z`),
  );
  const mail = changesMail(changes, notice, page);
  expect(mail.subject).toBe('22 changes to your account (Quittance)');
  expect(mail.text).toContain('14:03 UTC: A key was created for the service “API 3”.');
  expect(mail.text).toContain('And 2 more.');
  expect(mail.text).not.toContain('API 20');
  expect(mail.text).toContain('It was done from the network 203.0.113.0/24, with Firefox.');
  expect(mail.html.match(/<a /g)).toHaveLength(1);
});
