import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createGateStack, type GateStack, UPSTREAM_SECRET } from '../support/actors/gate-stack.ts';
import { type AskingProxy, askingProxies, startAskingProxy } from '../support/others/asking-proxies.ts';
import { type GateUpstream, gateUpstreams, startGateUpstream } from '../support/others/gate-upstreams.ts';
import { INSTALL_MS, runInterop } from '../support/others/interop.ts';

/**
 * The distribution's proxies with the configurations of examples/gate, which ask a gate over the
 * whole system. The API behind them checks what the gate has signed.
 */
const PRICE = 50_000n;
const stops: (() => Promise<unknown>)[] = [];
let harness: GateStack;
let upstream: GateUpstream;
beforeAll(async () => {
  harness = await createGateStack();
  upstream = await startGateUpstream(gateUpstreams.at(-1)!, UPSTREAM_SECRET);
}, 300_000);
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});
afterAll(() => upstream?.stop());

const start = async (name: AskingProxy) => {
  const [port, gatePort] = [await harness.port(), await harness.port()];
  const url = `http://127.0.0.1:${port}`;
  const settings = { mode: 'authorize', routes: [{ match: 'GET /report', price: '$0.05' }] };
  const gate = await harness.startGate(settings, gatePort, url);
  stops.push(gate.stop);
  const proxy = await startAskingProxy(name, { port, gatePort, upstreamPort: upstream.port });
  stops.push(proxy.stop);
  return { gate, url: `${url}/report` };
};

// Jest refuses an empty table.
const areThere = askingProxies.length > 0;
const suite = areThere ? describe : describe.skip;
suite.each(areThere ? askingProxies : (['no proxy'] as never[]))('%s', (name) => {
  test(
    'asks a gate, and a payment of each protocol buys the answer of the API behind it',
    async () => {
      const { gate, url } = await start(name);
      const [ours, v2, machine] = await Promise.all([0, 1, 2].map(() => harness.newBuyer()));
      const bodies: unknown[] = [];
      const spent = await ours!.spentBy(async () => {
        const answer = await ours!.pay(`${url}?city=Bern`);
        expect(answer.status).toBe(200);
        bodies.push(await answer.json());
      }, PRICE);
      expect(spent).toBe(PRICE);
      for (const [program, buyer] of [
        ['buyer', v2!],
        ['buyer-mpp', machine!],
      ] as const) {
        const [result] = await runInterop(program, { url, ...buyer.settings });
        expect([program, result!.status]).toEqual([program, 200]);
        bodies.push(result!.body);
      }
      expect(bodies).toMatchObject([
        { report: 'All is well in Bern.', checked: true },
        { checked: true },
        { checked: true },
      ]);
      for (const body of bodies)
        await harness.settled((body as { settlement: string }).settlement, 'redeemed');
      expect(gate.lines().filter(({ level }) => Number(level) > 30)).toEqual([]);
    },
    INSTALL_MS,
  );
});
