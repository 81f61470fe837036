// The gateway's credential check, for an access token and for a service key: cold (identity is asked) and cached. It runs
// the gateway's own code in this process against a running stack.
// Run: RATE_LIMIT_SCALE=1000 npm start, then: node bench/credentials.ts [--calls 20000] [--credentials 200]
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi, must } from '../deploy/local/people/api.ts';
import { createVendor } from '../deploy/local/people/people.ts';
import type { Stack } from '../deploy/local/stack-file.ts';
import { createAuthenticate } from '../services/gateway/credentials.ts';
import { openEnvironment } from '../services/gateway/environments.ts';
import { PublicKeyList } from '../shared/lib/keys.ts';
import { createLogger } from '../shared/lib/logger.ts';

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '20000' },
    credentials: { type: 'string', default: '200' },
    stack: { type: 'string', default: '.local/stack.json' },
  },
});
const stack = JSON.parse(readFileSync(values.stack, 'utf8')) as Stack;
const api = createApi(stack.gateway_url);

const nats = new URL(stack.nats_url);
const environment = openEnvironment(
  {
    name: 'test',
    nats_url: `nats://${nats.host}`,
    nats_user: decodeURIComponent(nats.username),
    nats_password: decodeURIComponent(nats.password),
  },
  createLogger('bench', 'fatal'),
);
while (environment.busIfConnected() === undefined) await sleep(20);

type Jwks = { keys: { kid: string; x: string }[] };
const { keys } = await must(api<Jwks>('GET /.well-known/jwks.json?environment=test'), 'jwks');
const authenticate = createAuthenticate({
  environments: new Map([['test', environment]]),
  publicKeys: PublicKeyList.parse(JSON.stringify(keys.map(({ kid, x }) => ({ kid, x })))),
  refusedKeys: { admit: () => {}, told: async () => {} },
  now: Date.now,
});
const check = (text: string) => authenticate(['Authorization', `Bearer ${text}`], '127.0.0.1');

const credentials: Record<'access token' | 'service key', string[]> = {
  'access token': [],
  'service key': [],
};
while (credentials['service key'].length < Number(values.credentials)) {
  const vendors = await Promise.all(Array.from({ length: 10 }, () => createVendor(api, stack)));
  for (const { signIn, apiKey } of vendors) {
    credentials['access token'].push(signIn.access_token);
    credentials['service key'].push(apiKey);
  }
}

const report = (name: string, times: number[]) => {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!.toFixed(3);
  console.log(
    `  ${name.padEnd(24)} p50 ${at(0.5).padStart(8)} ms   p99 ${at(0.99).padStart(8)} ms   (${times.length} calls)`,
  );
};
const timed = async (text: string, times: number[]) => {
  const startedAt = performance.now();
  await check(text);
  times.push(performance.now() - startedAt);
};

console.log(`node ${process.version}, ${os.cpus().length} × ${os.cpus()[0]?.model}`);
for (const [kind, texts] of Object.entries(credentials)) {
  const cold: number[] = [];
  const cached: number[] = [];
  for (const text of texts.slice(0, 20)) await check(text); // warms the code, not what is measured
  await sleep(1100); // older than the gateway keeps anything
  for (const text of texts) await timed(text, cold);
  for (let i = 0; i < Number(values.calls); i += 1) {
    const text = texts[i % 10]!;
    // Kept for a second: asked again between two measured calls, so that none of them is a cold one.
    if (i % 500 === 0) for (const each of texts.slice(0, 10)) await check(each);
    await timed(text, cached);
  }
  report(`${kind}, cold`, cold);
  report(`${kind}, cached`, cached);
}
await environment.busIfConnected()!.nc.drain();
