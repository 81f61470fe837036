import { once } from 'node:events';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTransport, type SendMailOptions } from 'nodemailer';
import { mailHttp } from './http.ts';
import { inboxPage } from './inbox-page.ts';
import { mailReceiver } from './smtp.ts';
import { type CaughtMessage, openMailStore } from './store.ts';

let folder = '';
let url = '';
let smtpPort = 0;
let close = async (): Promise<void> => {};

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'mail-'));
  const store = openMailStore(folder);
  const smtp = mailReceiver(store.add);
  const listening = smtp.listen(0, '127.0.0.1');
  const http = mailHttp(store).listen(0, '127.0.0.1');
  await Promise.all([once(listening, 'listening'), once(http, 'listening')]);
  smtpPort = (listening.address() as AddressInfo).port;
  url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  close = async () => {
    http.closeAllConnections();
    await Promise.all([
      new Promise((done) => http.close(done)),
      new Promise<void>((done) => smtp.close(done)),
    ]);
  };
});

afterEach(async () => {
  await close();
  rmSync(folder, { recursive: true, force: true });
});

const messages = async (query = ''): Promise<CaughtMessage[]> =>
  (await (await fetch(`${url}/messages${query}`)).json()) as CaughtMessage[];

async function send(mail: SendMailOptions): Promise<void> {
  const transport = createTransport({ host: '127.0.0.1', port: smtpPort, secure: false });
  await transport.sendMail({ from: 'Quittance <no-reply@quittance.example>', ...mail });
  transport.close();
}

test('a link longer than a line of quoted-printable arrives complete', async () => {
  const link = `http://127.0.0.1:3402/sign-in#token=ml_test_${'Az09-_='.repeat(60)}`;
  await send({
    to: 'ann@example.com',
    subject: 'Anmeldung für Sie ✓',
    text: `Grüße:\n\n${link}\n`,
    html: `<p>Grüße: <a href="${link}">sign in</a></p>`,
    textEncoding: 'quoted-printable',
  });
  const [message] = await messages();
  expect(message).toEqual({
    to: 'ann@example.com',
    subject: 'Anmeldung für Sie ✓',
    text: `Grüße:\n\n${link}`,
    html: expect.stringContaining(`href="${link}"`),
    received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
  });
});

test('messages are listed newest first and once per recipient, and the address filter ignores case', async () => {
  await send({ to: 'ann@example.com', subject: 'first', text: '1' });
  await send({ to: 'ann@example.com', bcc: 'Bob@Example.com', subject: 'second', text: '2' });
  expect((await messages('?to=ann@example.com')).map(({ subject }) => subject)).toEqual(['second', 'first']);
  expect((await messages('?to=bob@example.COM')).map(({ subject }) => subject)).toEqual(['second']);
  expect(await messages('?to=carol@example.com')).toEqual([]);
  expect(await messages()).toHaveLength(3);
});

test('messages survive a restart, also during a write', async () => {
  await send({ to: 'ann@example.com', subject: 'kept', text: '1' });
  appendFileSync(path.join(folder, 'messages.jsonl'), '{"to":"cut');
  const reopened = openMailStore(folder);
  expect(reopened.list().map(({ subject }) => subject)).toEqual(['kept']);
});

test('only the newest messages are kept', () => {
  const store = openMailStore(path.join(folder, 'small'), 2);
  const message = { to: 'a@example.com', text: '', html: '', received_at: '' };
  for (const subject of ['1', '2', '3']) store.add({ ...message, subject });
  expect(store.list().map(({ subject }) => subject)).toEqual(['3', '2']);
});

test('the inbox page executes nothing that a mail contains', async () => {
  const text = '<script>alert(1)</script> javascript:alert(2) https://example.com/?a=1&b="2"';
  await send({ to: 'ann@example.com', subject: '<img src=x onerror=alert(3)>', text });
  const response = await fetch(`${url}/`);
  const page = await response.text();
  expect(page).not.toMatch(/<script|<img|href="javascript/);
  expect(page).toContain('<a href="https://example.com/?a=1&#38;b="'.replace('"2', ''));
  expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
});

test('the inbox page shows the link of a mail that has HTML only', () => {
  const html =
    '<style>p{}</style><p>Hello &amp; welcome <a href="https://example.com/x">here</a></p><script>bad()</script>';
  const page = inboxPage([{ to: 'a@example.com', subject: 's', text: '', html, received_at: '' }]);
  expect(page).toContain('<a href="https://example.com/x"');
  expect(page).toContain('Hello &#38; welcome');
  expect(page).not.toContain('bad()');
});

test('another host name is refused, so a foreign page cannot read sign-in links', async () => {
  const status = await new Promise((resolve) => {
    request(`${url}/messages`, { headers: { host: 'rebound.example.com' } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    }).end();
  });
  expect(status).toBe(421);
  expect((await fetch(`${url}/other`)).status).toBe(404);
  expect((await fetch(`${url}/messages`, { method: 'DELETE' })).status).toBe(405);
});
