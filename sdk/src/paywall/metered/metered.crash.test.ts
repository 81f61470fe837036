import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { waitUntil } from '../../../../test/support/base/wait.ts';
import {
  at,
  PUBLIC_URL,
  startVendorApi,
  type VendorApi,
} from '../../../../test/support/stand-ins/vendor-api.ts';
import { type MeteredRoute, memoryStore, meterOf, type PaywallStore } from '../main.ts';

/** Calls of a tab whose process dies, and their repeats at another one. */
let api: VendorApi;
beforeEach(async () => {
  api = await startVendorApi();
});
afterEach(() => api.stop());

const route: MeteredRoute<Request> = { max: '$0.10', tab: { perCall: '$0.05' } };

/** A store of a process that dies, with the locks that it has taken. */
const mortalOf = (shared: PaywallStore) => {
  let isDead = false;
  const locks: string[] = [];
  const alive = <T>(run: () => T): T => {
    if (isDead) throw new Error('the process is dead');
    return run();
  };
  const store: PaywallStore = {
    get: (key) => alive(() => shared.get(key)),
    compareAndSet: (...args) => alive(() => shared.compareAndSet(...args)),
    take: (counter, amount, entries) =>
      alive(() => {
        locks.push(...entries.map(({ key }) => key).filter((key) => key.endsWith(':lock')));
        return shared.take!(counter, amount, entries);
      }),
  };
  /** The process dies, and its leases end. */
  const die = async (): Promise<void> => {
    isDead = true;
    for (const lock of locks) await shared.compareAndSet(lock, await shared.get(lock), null, 0);
  };
  return { store, die };
};

test.each([
  ['before its first byte', 0n],
  ['while it streams', 30_000n],
])(
  'a call whose process dies %s is charged once, and the tab stays within its ceiling',
  async (_, reported) => {
    const shared = memoryStore();
    const { store, die } = mortalOf(shared);
    const begun = Promise.withResolvers<void>();
    const dying = api.paywall({ store });
    const serve = dying.metered(route, (request) => {
      meterOf(request).charge('$0.03');
      begun.resolve();
      if (reported === 0n) return new Promise<Response>(() => undefined);
      const pull = (stream: ReadableStreamDefaultController<Uint8Array>) => stream.enqueue(new Uint8Array(1));
      return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }));
    });
    let runs = 0;
    const next = api.paywall({ store: shared }).metered(route, (request) => {
      runs += 1;
      meterOf(request).charge('$0.05');
      return new Response(`run ${runs}`);
    });
    const { headers, held } = api.authorize({ resource: `${PUBLIC_URL}/chat`, tab: true }, 100_000n);
    const named = (id: string) => at('/chat', { ...headers, 'x-payment-request-id': id });
    const first = serve(named('one'));
    await begun.promise;
    if (reported > 0n) await (await first).body!.getReader().read();
    await dying.close();
    expect(held.used).toBe(reported);
    await die();
    expect(await (await next(named('one'))).text()).toBe('run 1');
    const second = await next(named('two'));
    expect([await second.text(), second.headers.get('quittance-usage')]).toEqual([
      ...['run 2', 'charged=50000, left=0'],
    ]);
    expect((await next(named('three'))).status).toBe(402);
    await waitUntil(() => held.status === 'captured');
    // What the first run has reported and the second call. Nothing of the tab is used twice.
    expect([runs, held.used]).toEqual([2, reported + 50_000n]);
  },
);
