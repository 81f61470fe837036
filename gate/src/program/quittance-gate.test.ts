import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from '@jest/globals';
import { SERVICE_KEY } from '../../../test/support/base/keys.ts';
import { waitFor } from '../../../test/support/base/wait.ts';
import { ask, startUpstream } from '../../../test/support/fixtures/gate.ts';
import { startVendorApi } from '../../../test/support/stand-ins/vendor-api.ts';

/** The process: its output, its signals and its end. */
const PROGRAM = path.join(import.meta.dirname, 'quittance-gate.ts');
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

type Line = Record<string, unknown>;
const start = (
  args: string[],
  env: Record<string, string>,
  { options = [], by = [process.execPath] }: { options?: string[]; by?: string[] } = {},
) => {
  const [program, ...before] = by;
  const own = ['--disable-warning=ExperimentalWarning', ...options, PROGRAM, ...args];
  const child = spawn(program!, [...before, ...own], { env: { PATH: process.env.PATH, ...env } });
  stops.push(() => child.kill('SIGKILL'));
  const lines: Line[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr += String(chunk);
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    child,
    ended,
    stderr: () => stderr,
    line: (message: string) =>
      waitFor(
        () => lines.find(({ msg }) => msg === message),
        (found) => found !== undefined,
      ),
  };
};

test('it serves a file, loads it again on SIGHUP, keeps it if the new one is wrong, and drains on SIGTERM', async () => {
  const api = await startVendorApi();
  stops.push(api.stop);
  const next = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (request, response) => {
    if (request.url === '/slow') await next.promise;
    response.end('ok');
  });
  stops.push(upstream.stop);
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-gate-'));
  stops.push(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, 'gate.yaml');
  const write = (price: string) =>
    writeFileSync(
      file,
      `upstream: http://127.0.0.1:${upstream.port}\nroutes:\n  - { match: GET /report, price: ${price} }\n`,
    );
  write('0.05');
  const gate = start([file, '--listen', '0', '--operations', '0'], {
    QUITTANCE_URL: api.baseUrl,
    SERVICE_KEY,
    SERVICE_ID: api.serviceId,
    PUBLIC_URL: 'https://shop.example.com',
  });
  const url = `http://${((await gate.line('the gate serves')) as Line).listen}`;
  const priceNow = async () => JSON.parse((await ask(`${url}/report`)).text).quote_amount as string;
  expect(await priceNow()).toBe('50000');
  write('0.07');
  gate.child.kill('SIGHUP');
  await gate.line('the settings are loaded again');
  expect(await priceNow()).toBe('70000');
  write('7');
  gate.child.kill('SIGHUP');
  const wrong = (await gate.line('the settings are wrong, the old ones stay')) as Line;
  expect(wrong.error).toBe(
    `${file}:3: routes[0].price: write '$0.05', '0.05' or '0.05 USDC'; not '7': write '$7' for 7.00 USDC`,
  );
  expect(await priceNow()).toBe('70000');
  const slow = ask(`${url}/slow`);
  await waitFor(
    () => upstream.seen.length,
    (count) => count === 1,
  );
  gate.child.kill('SIGTERM');
  await waitFor(
    () =>
      ask(url).then(
        () => 'open',
        () => 'closed',
      ),
    (found) => found === 'closed',
  );
  next.resolve();
  expect((await slow).text).toBe('ok');
  expect(await gate.ended).toBe(0);
  expect(await gate.line('call')).toMatchObject({ route: 'GET /report', outcome: 'quoted', status: 402 });
  expect(gate.stderr()).toBe('');
});

test('it ends with the npx that runs it, whose shell does not pass the signal on', async () => {
  const api = await startVendorApi();
  stops.push(api.stop);
  const places = ['--upstream', 'http://127.0.0.1:9', '--listen', '0', '--operations', '0'];
  const env = { QUITTANCE_URL: api.baseUrl, SERVICE_KEY, SERVICE_ID: api.serviceId };
  const gate = start(
    [...places, '--price', 'GET /report=0.05'],
    { ...env, PUBLIC_URL: 'https://shop.example.com' },
    { by: ['npm', 'exec', '--no', '--', 'node'] },
  );
  await gate.line('the gate serves');
  gate.child.kill('SIGTERM');
  await gate.line('the gate ends');
  // The gate holds the output of npm until it has ended.
  await gate.ended;
});

test('an error that nobody handles is logged, and the gate ends after its open calls', async () => {
  const api = await startVendorApi();
  stops.push(api.stop);
  const next = Promise.withResolvers<void>();
  const upstream = await startUpstream(async (_request, response) => {
    await next.promise;
    response.end('ok');
  });
  stops.push(upstream.stop);
  const places = ['--upstream', `http://127.0.0.1:${upstream.port}`, '--listen', '0', '--operations', '0'];
  const env = { QUITTANCE_URL: api.baseUrl, SERVICE_KEY, SERVICE_ID: api.serviceId };
  const failing = `process.on('SIGUSR2', () => { throw new Error('a mistake'); })`;
  const gate = start(
    [...places, '--price', 'GET /report=0.05'],
    { ...env, PUBLIC_URL: 'https://shop.example.com' },
    { options: ['--import', `data:text/javascript,${encodeURIComponent(failing)}`] },
  );
  const url = `http://${((await gate.line('the gate serves')) as Line).listen}`;
  const open = ask(`${url}/free`);
  await waitFor(
    () => upstream.seen.length,
    (count) => count === 1,
  );
  gate.child.kill('SIGUSR2');
  expect(await gate.line('an error was not handled')).toMatchObject({
    error: expect.stringContaining('a mistake'),
  });
  next.resolve();
  expect((await open).text).toBe('ok');
  expect(await gate.ended).toBe(70);
});

test('a wrong command line ends it with a sentence', async () => {
  const gate = start(['--price', 'GET /a=5'], {});
  expect(await gate.ended).toBe(64);
  expect(gate.stderr()).toBe(
    "quittance-gate: --price: write '$0.05', '0.05' or '0.05 USDC'; not '5': write '$5' for 5.00 USDC\n",
  );
});

const PLACES = ['--listen', '0', '--operations', '0', '--upstream', 'http://127.0.0.1:1'];
const PRICED = [...PLACES, '--price', 'GET /report=0.05'];

test.each<[what: string, status: number, error: object, sentence: string]>([
  [
    'of another service',
    ...([404, { code: 'not_found', message: 'no such service' }] as const),
    'service_id (SERVICE_ID) .* is not a service of this key; the console shows',
  ],
  [
    'of a key that was replaced',
    ...([401, { code: 'unauthorized', message: 'the key was replaced; use the current key' }] as const),
    'SERVICE_KEY: the key was replaced; use the current key',
  ],
  [
    'of a price below the fee',
    400,
    {
      code: 'validation_error',
      message: 'x',
      details: [
        {
          path: 'quote_amount',
          message: 'must exceed the fee of 60000 micro-units, which is paid out of it; send at least "60001"',
        },
      ],
    },
    "price: 0.05 USDC is not more than the fee of 0.06 USDC, which you pay out of it; use at least '\\$0.060001'",
  ],
])('a definite refusal %s ends the start with one sentence', async (_, status, error, sentence) => {
  const api = await startVendorApi();
  stops.push(api.stop);
  api.faults.push(({ call }) => (call === 'POST /v1/quote' ? { status, body: { error } } : null));
  const gate = start(PRICED, { QUITTANCE_URL: api.baseUrl, SERVICE_KEY, SERVICE_ID: api.serviceId });
  expect(await gate.ended).toBe(64);
  expect(gate.stderr()).toMatch(new RegExp(`^quittance-gate: ${sentence.replace(/[()]/g, '\\$&')}`));
  expect(gate.stderr().trim().split('\n')).toHaveLength(1);
});

test('it starts while the API is away, and says that nothing was checked', async () => {
  const gate = start(PRICED, {
    QUITTANCE_URL: 'http://127.0.0.1:1',
    SERVICE_KEY,
    SERVICE_ID: '01234567-89ab-4cde-8f01-23456789abcd',
  });
  await gate.line('the payment API does not answer now, so the settings are not checked');
  await gate.line('the gate serves');
});

test('a port that is taken is a sentence', async () => {
  const api = await startVendorApi();
  stops.push(api.stop);
  const { port } = new URL(api.baseUrl);
  const gate = start([...PRICED, '--listen', port], {
    QUITTANCE_URL: api.baseUrl,
    SERVICE_KEY,
    SERVICE_ID: api.serviceId,
  });
  expect(await gate.ended).toBe(64);
  expect(gate.stderr()).toBe(
    `quittance-gate: 127.0.0.1:${port}: another program listens there already: end it, or choose another port\n`,
  );
});
