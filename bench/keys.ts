// The gateway's credential check of a key: cold (the record is asked over NATS), cached, and refused.
// Starts a stack of its own; the check is the gateway's own code in this process, everything behind it is real.
// Run: node bench/keys.ts [--keys 200] [--rounds 5]
import { mkdtempSync, rmSync } from 'node:fs';
import os, { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createApi } from '../deploy/local/people/api.ts';
import { createVendor } from '../deploy/local/people/people.ts';
import { startStack } from '../deploy/local/stack.ts';
import { createAuthenticate } from '../services/gateway/credentials.ts';
import { openEnvironment } from '../services/gateway/environments.ts';
import { systemClock } from '../shared/lib/clock.ts';
import { createKeyText } from '../shared/lib/key-text.ts';
import { createLogger } from '../shared/lib/logger.ts';

const { values } = parseArgs({
  options: { keys: { type: 'string', default: '200' }, rounds: { type: 'string', default: '5' } },
});
const [keyCount, rounds] = [Number(values.keys), Number(values.rounds)];
/** Longer than the gateway keeps a credential. */
const FORGOTTEN_MS = 1100;

const stateDir = mkdtempSync(path.join(tmpdir(), 'bench-keys-'));
const running = await startStack({ stateDir, ports: 'any', environments: ['test'], rateLimitScale: 10_000 });
try {
  const { stack } = running;
  const api = createApi(stack.gateway_url);
  const vendor = await createVendor(api, stack);
  const keys: string[] = [];
  for (let i = 0; i < keyCount; i += 1) {
    const { body } = await api<{ api_key: string }>('POST /v1/services', {
      token: vendor.signIn.access_token,
      body: { name: 'Bench', price: '1', payout_address: vendor.payout.publicKey.toBase58() },
    });
    keys.push(body.api_key);
  }

  const nats = new URL(stack.nats_url);
  const environment = openEnvironment(
    {
      name: 'test',
      nats_url: `nats://${nats.host}`,
      nats_user: nats.username,
      nats_password: nats.password,
    },
    createLogger('gateway', 'silent'),
  );
  while (environment.busIfConnected() === undefined) await sleep(20);
  const authenticate = createAuthenticate({
    environments: new Map([['test', environment]]),
    publicKeys: new Map(),
    now: systemClock,
  });
  const check = async (text: string): Promise<number> => {
    const startedAt = performance.now();
    await authenticate(['authorization', `Bearer ${text}`]).catch(() => {});
    return performance.now() - startedAt;
  };

  const times: Record<string, number[]> = { cold: [], cached: [], 'unknown key': [], 'wrong checksum': [] };
  for (let round = -1; round < rounds; round += 1) {
    await sleep(FORGOTTEN_MS);
    for (const text of keys) {
      const cold = await check(text);
      const cached = [await check(text), await check(text), await check(text), await check(text)];
      if (round < 0) continue; // The first round warms the code up.
      times.cold!.push(cold);
      times.cached!.push(...cached);
    }
  }
  for (let i = 0; i < 50; i += 1) {
    const unknown = createKeyText('vendor_test_');
    times['unknown key']!.push(await check(unknown));
    times['wrong checksum']!.push(await check(`${unknown.slice(0, -1)}${unknown.endsWith('0') ? '1' : '0'}`));
  }

  console.log(`${os.cpus().length} cores, Node ${process.version}, ${keyCount} keys, ${rounds} rounds`);
  for (const [what, all] of Object.entries(times)) {
    const sorted = all.toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)]!.toFixed(3);
    console.log(`${what}: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms (${all.length} checks)`);
  }
  await environment.busIfConnected()!.nc.close();
} finally {
  await running.stop();
  rmSync(stateDir, { recursive: true, force: true });
}
