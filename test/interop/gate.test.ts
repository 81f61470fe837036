import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { usageOf } from '../../sdk/src/pay/main.ts';
import {
  createGateStack,
  type GateStack,
  type RunningGate,
  UPSTREAM_SECRET,
} from '../support/actors/gate-stack.ts';
import {
  gateUpstreams,
  hasFileServer,
  startFileServer,
  startGateUpstream,
} from '../support/others/gate-upstreams.ts';
import { INSTALL_MS, runInterop } from '../support/others/interop.ts';
import { atOnce } from '../support/servers/stack.ts';

/**
 * The gate as it is published, over the whole system, before servers that know nothing of payments.
 * Its buyers are ours, the unmodified ones of x402 and MPP, and curl.
 */
const run = promisify(execFile);
const ROUTES = [
  { match: 'GET,POST /report', price: '$0.05' },
  { match: 'GET /forecast', price: '$0.10', prepaid: { units: '5' } },
  {
    ...{
      match: 'POST /chat',
      max: '$0.50',
      price: '$0.001',
      unit_price: '$0.0005',
      units_header: 'X-Tokens',
    },
    ...{ tab: 'true', per_call: '$0.05' },
  },
];
const PRICE = 50_000n;

let harness: GateStack;
const stops: (() => Promise<unknown>)[] = [];
beforeAll(async () => {
  harness = await createGateStack();
}, 300_000);
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
});

const startBefore = async (upstream: { port: number; stop: () => Promise<void> }, settings: object) => {
  stops.push(upstream.stop);
  const gate = await harness.startGate(
    { upstream: `http://127.0.0.1:${upstream.port}`, ...settings },
    await harness.port(),
  );
  stops.push(gate.stop);
  return gate;
};
const errorsOf = (gate: RunningGate) => gate.lines().filter(({ level }) => Number(level) > 30);
/** What an API has answered: its report, and what it knows of the payment. */
type Said = { report: string; settlement: string; checked: boolean };
const saidIn = async (answer: Response) => (await answer.json()) as Said;

describe.each(gateUpstreams)('before %s', (name) => {
  let gate: RunningGate;
  beforeAll(async () => {
    gate = await startBefore(await startGateUpstream(name, UPSTREAM_SECRET), { routes: ROUTES });
  });

  test('the paying fetch gets what it pays for, which the API can check, and the vendor is paid', async () => {
    const buyer = await harness.newBuyer();
    const said: Said[] = [];
    const spent = await buyer.spentBy(async () => {
      const got = await buyer.pay(`${gate.url}/report?city=Bern%20Ost`);
      const posted = await buyer.pay(`${gate.url}/report`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"city":"Bonn"}',
      });
      expect([got.status, posted.status]).toEqual([200, 200]);
      said.push(await saidIn(got), await saidIn(posted));
    }, 2n * PRICE);
    expect(spent).toBe(2n * PRICE);
    expect(said).toMatchObject([
      { report: 'All is well in Bern Ost.', checked: true },
      { report: 'All is well in Bonn.', checked: true },
    ]);
    for (const { settlement } of said)
      expect(await harness.settled(settlement, 'redeemed')).toMatchObject({ quote_amount: String(PRICE) });
    expect((await (await fetch(`${gate.url}/free`)).json()) as Said).toEqual({ report: 'A sample.' });
  });

  test('one payment buys five requests', async () => {
    const buyer = await harness.newBuyer();
    const settlements = new Set<string>();
    const spent = await buyer.spentBy(async () => {
      for (const answer of await atOnce(5, () => buyer.pay(`${gate.url}/forecast`)))
        settlements.add((await saidIn(answer)).settlement);
    }, 100_000n);
    expect([spent, settlements.size]).toEqual([100_000n, 1]);
    const [settlement] = settlements;
    expect(await harness.settled(settlement!, 'redeemed')).toMatchObject({ units_remaining: 0 });
  });

  test('a tab is captured once, with what its calls have cost by the answers of the API', async () => {
    const buyer = await harness.newBuyer();
    const settlements = new Set<string>();
    const spent = await buyer.spentBy(async () => {
      for (let words = 1; words <= 8; words += 1) {
        const body = Array(words).fill('word').join(' ');
        const headers = { 'content-type': 'text/plain' };
        const answer = await buyer.pay(`${gate.url}/chat`, { method: 'POST', headers, body });
        expect([answer.status, usageOf(answer)?.chargedMicro]).toEqual([200, String(1000 + 500 * words)]);
        settlements.add((await saidIn(answer)).settlement);
      }
      await buyer.pay.closeTabs();
    }, 26_000n);
    expect([spent, settlements.size]).toEqual([26_000n, 1]);
    const [settlement] = settlements;
    const { authorization } = await harness.settled(settlement!, 'redeemed');
    expect(authorization).toMatchObject({ max_amount: '500000', used: '26000' });
  });

  test(
    'unmodified clients of x402 and MPP get what they pay for',
    async () => {
      const [v2, machine] = await Promise.all([harness.newBuyer(), harness.newBuyer()]);
      const url = `${gate.url}/report`;
      const spent = await machine.spentBy(async () => {
        const results = [
          ...(await runInterop('buyer', { url, ...v2.settings })),
          ...(await runInterop('buyer-mpp', { url, ...machine.settings })),
        ];
        expect(results).toMatchObject([
          { status: 200, body: { checked: true }, receipt: { success: true, amount: String(PRICE) } },
          { status: 200, body: { checked: true }, receipt: { status: 'success', method: 'solana' } },
        ]);
        for (const { body } of results) await harness.settled((body as Said).settlement, 'redeemed');
      }, PRICE);
      expect(spent).toBe(PRICE);
    },
    INSTALL_MS,
  );

  test('curl gets the price as JSON, and with the headers of a browser as a page', async () => {
    const curl = async (...options: string[]) => {
      const format = '\\n%{http_code} %{content_type}';
      const { stdout } = await run('curl', ['--silent', '-w', format, ...options, `${gate.url}/report`]);
      const at = stdout.lastIndexOf('\n');
      return { body: stdout.slice(0, at), answer: stdout.slice(at + 1) };
    };
    const plain = await curl();
    expect(plain.answer).toBe('402 application/problem+json');
    expect(JSON.parse(plain.body)).toMatchObject({ error: 'payment_required', quote_amount: String(PRICE) });
    const browser = [
      'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
      'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      ...['Sec-Fetch-Mode: navigate', 'Sec-Fetch-Dest: document', 'Sec-Fetch-Site: none'],
    ].flatMap((header) => ['--header', header]);
    const page = await curl('--compressed', ...browser);
    expect(page.answer).toBe('402 text/html; charset=utf-8');
    expect(page.body).toContain('0.05 USDC');
  });

  test('nothing of it was an error of the gate', () => expect(errorsOf(gate)).toEqual([]));
});

const FILE = randomBytes(20_000_000);
const hashOf = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const ofFiles = hasFileServer ? describe : describe.skip;

ofFiles('before a file server (nginx)', () => {
  let gate: RunningGate;
  beforeAll(async () => {
    const files = { 'data.bin': FILE, free: Buffer.from('A sample.') };
    const routes = [{ match: 'GET /data.bin', price: '$0.05' }];
    gate = await startBefore(await startFileServer(files), { routes });
  });

  test('a large file arrives as it is, and a range of it is another purchase', async () => {
    const buyer = await harness.newBuyer();
    const spent = await buyer.spentBy(async () => {
      const whole = await buyer.pay(`${gate.url}/data.bin`);
      expect([whole.status, whole.headers.get('content-length')]).toEqual([200, String(FILE.length)]);
      expect(whole.headers.get('etag')).toMatch(/^"[0-9a-f]+-[0-9a-f]+"$/);
      expect(hashOf(new Uint8Array(await whole.arrayBuffer()))).toBe(hashOf(FILE));
      const range = { headers: { range: 'bytes=1000-1999' } };
      const part = await buyer.pay(`${gate.url}/data.bin`, range);
      expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 1000-1999/20000000']);
      expect(hashOf(new Uint8Array(await part.arrayBuffer()))).toBe(hashOf(FILE.subarray(1000, 2000)));
    }, 2n * PRICE);
    expect(spent).toBe(2n * PRICE);
  });

  test('an entity tag of a free file saves its transfer', async () => {
    const first = await fetch(`${gate.url}/free`);
    expect(await first.text()).toBe('A sample.');
    const headers = { 'if-none-match': first.headers.get('etag')! };
    expect((await fetch(`${gate.url}/free`, { headers })).status).toBe(304);
    expect(errorsOf(gate)).toEqual([]);
  });
});
