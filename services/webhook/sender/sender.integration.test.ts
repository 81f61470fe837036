import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, expect, test } from '@jest/globals';
import {
  type Answer,
  answer,
  hang,
  type Receiver,
  selfSigned,
  startReceiver,
} from '../../../test/support/servers/receiver.ts';
import type { Resolve } from './resolve.ts';
import { createSender } from './sender.ts';

/** Tests the sender against real servers on this machine. */
const receivers: Receiver[] = [];
const receiver = async (...args: Parameters<typeof startReceiver>): Promise<Receiver> => {
  const started = await startReceiver(...args);
  receivers.push(started);
  return started;
};
afterAll(() => Promise.all(receivers.map(({ stop }) => stop())));

const message = { headers: { 'webhook-id': 'evt_1' }, body: '{"type":"webhook.test"}' };
// A busy machine needs more than half a second for an answer now and then.
const TIMEOUT_MS = 2000;
const local = createSender({ allowPrivate: true, timeoutMs: TIMEOUT_MS });
const resolvesTo =
  (...answers: string[][]): Resolve =>
  async () =>
    (answers.length > 1 ? answers.shift()! : answers[0]!).map((address) => ({
      address,
      family: address.includes(':') ? 6 : 4,
    }));

const endless: Answer = (response) => {
  response.writeHead(200);
  const more = setInterval(() => response.write('x'.repeat(4096)), 1);
  response.on('close', () => clearInterval(more));
};
const dripping: Answer = (response) => {
  response.writeHead(500);
  response.write('still ');
};
const cut: Answer = (response) => response.destroy();
// Node closes such a connection without an error, and the time-out has nothing to abort then.
const switching: Answer = ({ socket }) =>
  void socket!.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n');

test.each<[string, Answer, object]>([
  ['accepts it', answer(204), { statusCode: 204, error: null, response: null }],
  ['answers with text', answer(200, {}, 'thank\u0000 \u202eyou\n'), { error: null, response: 'thank you' }],
  ['never ends its answer', endless, { statusCode: 200, error: null, response: 'x'.repeat(200) }],
  ['stops in the middle of its answer', dripping, { statusCode: 500, error: 'status', response: 'still' }],
  ['fails', answer(500, {}, 'oops'), { statusCode: 500, error: 'status', response: 'oops' }],
  ['is gone', answer(410), { statusCode: 410, error: 'status' }],
  ['hangs', hang, { statusCode: null, error: 'timeout', response: null }],
  ['cuts the connection', cut, { statusCode: null, error: 'unreachable' }],
  ['switches to another protocol', switching, { statusCode: null, error: 'unreachable' }],
])('a receiver that %s', async (_what, behave, expected) => {
  const { url, received } = await receiver(behave);
  expect(await local.post(url, message)).toMatchObject(expected);
  expect(received).toHaveLength(1);
  expect(received[0]).toMatchObject({ path: '/hook', body: message.body });
});

test('a redirect is a failure and is not followed', async () => {
  const inner = await receiver(answer(200));
  const outer = await receiver(answer(307, { location: inner.url }));
  expect(await local.post(outer.url, message)).toMatchObject({ statusCode: 307, error: 'redirect' });
  expect(inner.connections()).toBe(0);
});

test('a closed port, an unknown name, an untrusted certificate and a server without TLS are different errors', async () => {
  const gone = await startReceiver(hang);
  await gone.stop();
  expect(await local.post(gone.url, message)).toMatchObject({ error: 'unreachable' });
  expect(await local.post('http://nowhere.invalid/', message)).toMatchObject({ error: 'not_resolved' });
  const unknown = await receiver(answer(200), await selfSigned('hooks.example.com'));
  expect(await local.post(unknown.url, message)).toMatchObject({ error: 'tls' });
  expect(unknown.received).toEqual([]);
  const plain = await receiver(answer(200));
  expect(await local.post(plain.url.replace('http:', 'https:'), message)).toMatchObject({ error: 'tls' });
});

test('a trusted certificate is accepted only for its name', async () => {
  const identity = await selfSigned('hooks.example.com');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, identity.cert]);
  try {
    const inner = await receiver(answer(200), identity);
    const { port } = new URL(inner.url);
    const sender = createSender({
      allowPrivate: true,
      timeoutMs: TIMEOUT_MS,
      resolve: resolvesTo(['127.0.0.1']),
    });
    expect(await sender.post(`https://hooks.example.com:${port}/hook`, message)).toMatchObject({
      statusCode: 200,
      error: null,
    });
    expect(await sender.post(`https://other.example.com:${port}/hook`, message)).toMatchObject({
      error: 'tls',
    });
    expect(inner.received).toHaveLength(1);
  } finally {
    setDefaultCACertificates(before);
  }
});

test('a proxy of the environment is not used', async () => {
  const proxy = await receiver(answer(200));
  const target = await receiver(answer(200));
  const names = ['http_proxy', 'https_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NODE_USE_ENV_PROXY'];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) process.env[name] = name.startsWith('NODE') ? '1' : proxy.url;
  try {
    expect(await local.post(target.url, message)).toMatchObject({ error: null });
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
  expect(proxy.connections()).toBe(0);
});

// ---------- private addresses are never reached ----------

const strict = (resolve?: Resolve) =>
  createSender({ allowPrivate: false, timeoutMs: TIMEOUT_MS, ...(resolve && { resolve }) });
const refused = async (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    ({ code, message: text }: { code: string; message: string }) => `${code} ${text}`,
  );

test('the sender does not connect to a name that was public when it was saved and is private now', async () => {
  const inner = await receiver(answer(200), await selfSigned('hooks.example.com'));
  const url = `https://hooks.example.com:${new URL(inner.url).port}/hook`;
  const sender = strict(resolvesTo(['93.184.216.34'], ['127.0.0.1']));
  expect(await refused(sender.check(url))).toBe('ok');
  expect(await sender.post(url, message)).toMatchObject({ statusCode: null, error: 'address_refused' });
  expect(inner.connections()).toBe(0);
});

test('a connection goes to the address that was checked, because the name is resolved once', async () => {
  const inner = await receiver(answer(200));
  const resolved: string[] = [];
  const sender = createSender({
    allowPrivate: true,
    timeoutMs: TIMEOUT_MS,
    resolve: async (hostname) => {
      resolved.push(hostname);
      return [{ address: '127.0.0.1', family: 4 }];
    },
  });
  const url = `http://hooks.example.com:${new URL(inner.url).port}/hook`;
  expect(await sender.post(url, message)).toMatchObject({ error: null });
  expect(resolved).toEqual(['hooks.example.com']);
  expect(inner.received[0]?.headers.host).toBe(new URL(url).host);
});

test.each([
  [['10.0.0.1']],
  [['169.254.169.254']],
  [['::1']],
  [['::ffff:127.0.0.1']],
  [['64:ff9b::7f00:1']],
  // One private address of several is enough, because an attacker could make it the one that is
  // used.
  [['93.184.216.34', '127.0.0.1']],
  [['2606:2800:220:1:248:1893:25c8:1946', 'fd00::1']],
])(
  'a name that resolves to %j is refused when it is saved and when the sender connects',
  async (addresses) => {
    const sender = strict(resolvesTo(addresses));
    const url = 'https://hooks.example.com/hook';
    expect(await refused(sender.check(url))).toBe('validation_error url: must lead to a public address');
    expect(await sender.post(url, message)).toMatchObject({ error: 'address_refused' });
  },
);

test.each([
  'https://127.0.0.1:PORT/',
  'https://[::ffff:127.0.0.1]:PORT/',
  'https://2130706433:PORT/',
  'http://127.0.0.1:PORT/',
  'https://localhost:PORT/',
])('the sender does not connect to %s in the table', async (text) => {
  const inner = await receiver(answer(200));
  const url = text.replace('PORT', new URL(inner.url).port);
  expect(await strict().post(url, message)).toMatchObject({ error: 'address_refused' });
  expect(inner.connections()).toBe(0);
});

test('a name that does not resolve is refused when it is saved', async () => {
  const none = strict(async () => Promise.reject(new Error('ENOTFOUND')));
  expect(await refused(none.check('https://hooks.example.com/'))).toBe(
    'validation_error url: must be a name that resolves',
  );
  expect(await refused(strict(resolvesTo([])).check('https://hooks.example.com/'))).toBe(
    'validation_error url: must be a name that resolves',
  );
});
