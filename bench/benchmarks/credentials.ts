import { setTimeout as sleep } from 'node:timers/promises';
import { createVendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { createAuthenticate } from '../../services/gateway/credentials/authenticate.ts';
import { openEnvironment } from '../../services/gateway/environments/environment.ts';
import { PublicKeyList } from '../../shared/lib/keys.ts';
import { createLogger } from '../../shared/lib/logger.ts';
import { type Samples, showSamples } from '../harness/rounds.ts';
import type { Benchmark } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { type Sample, sampleOf } from '../harness/statistics.ts';

const CREDENTIALS = 100;
/** Longer than the gateway caches identity's answer. */
const FORGOTTEN_MS = 1100;

type Check = (text: string) => Promise<unknown>;

/** Figures for docs/adr/0009: the gateway's code in this process, against a stack. */
export const credentials: Benchmark = {
  about: 'the gateway’s credential check, cold (with a call to identity) and cached',
  run: async (run) => {
    const { report, options } = run;
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const { check, close } = await checking(bench);
    run.defer(close);
    report.progress('signing in');
    const texts: Record<string, string[]> = { 'access token': [], 'service key': [] };
    while (texts['service key']!.length < CREDENTIALS) {
      const some = await Promise.all(Array.from({ length: 10 }, () => createVendor(bench.api, bench.stack)));
      for (const { signIn, apiKey } of some) {
        texts['access token']!.push(signIn.access_token);
        texts['service key']!.push(apiKey);
      }
    }
    const samples: Samples = {};
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const [kind, all] of Object.entries(texts)) {
        report.progress(`round ${round} of ${options.rounds}, ${kind}`);
        const figures = {
          [`${kind}, cold`]: await cold(check, all),
          [`${kind}, cached`]: await cached(check, all),
        };
        // The first round is the warm-up.
        if (round === 0) continue;
        for (const [name, sample] of Object.entries(figures)) {
          samples[name] ??= [];
          samples[name].push(sample);
        }
      }
    }
    showSamples(run, 'credential checks, one after the other', samples);
  },
};

const checking = async (bench: BenchStack): Promise<{ check: Check; close: () => Promise<void> }> => {
  const environment = openEnvironment(
    {
      name: 'test',
      nats_url: bench.stack.nats_url,
      nats_nkey_seed: bench.stack.nats_nkey_seed,
    },
    createLogger('bench', 'fatal'),
  );
  await environment.reached;
  const { keys } = await must(
    bench.api<{ keys: { kid: string; x: string }[] }>('GET /.well-known/jwks.json?environment=test'),
    'jwks',
  );
  const authenticate = createAuthenticate({
    environments: new Map([['test', environment]]),
    publicKeys: PublicKeyList.parse(JSON.stringify(keys.map(({ kid, x }) => ({ kid, x })))),
    refusedKeys: { admit: () => {}, record: async () => {} },
    now: Date.now,
  });
  return {
    check: (text) => authenticate(['Authorization', `Bearer ${text}`], '127.0.0.1'),
    close: async () => environment.busIfConnected()?.nc.drain(),
  };
};

const timed = async (check: Check, texts: Iterable<string>): Promise<Sample> => {
  const times: number[] = [];
  const startedAt = performance.now();
  for (const text of texts) {
    const from = performance.now();
    await check(text);
    times.push(performance.now() - from);
  }
  return sampleOf(times, performance.now() - startedAt);
};

const cold = async (check: Check, texts: readonly string[]): Promise<Sample> => {
  await sleep(FORGOTTEN_MS);
  return timed(check, texts);
};

/** Ends long before the gateway calls identity again. */
const cached = async (check: Check, texts: readonly string[]): Promise<Sample> => {
  const few = texts.slice(0, 10);
  for (const text of few) await check(text);
  return timed(
    check,
    Array.from({ length: 1000 }, (_, index) => few[index % few.length]!),
  );
};
