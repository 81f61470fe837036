import { createPortPicker, type PortPicker } from '../../../deploy/local/servers/ports.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { type GateProcess, startGateProcess } from '../../support/actors/gate-process.ts';
import type { Purchase } from './log.ts';
import { type Decision, placeOf, startRelay } from './relay.ts';
import { createUpstream } from './upstream.ts';

/** What a request costs, and the same as the API behind the gate names it on a metered route. */
export const PRICE = 50_000n;
export const METERED_PRICE = 40_000n;
const X_PRICE = '0.04 USDC';

const SETTINGS = {
  routes: [
    { match: 'GET /goods/**', price: '$0.05' },
    { match: 'GET /metered/**', max: '$0.10', price_header: 'X-Price', window: '1m' },
  ],
  dialects: ['x402', 'mpp'],
  timeouts: { connect: '1s', answer: '10s' },
};

/** The vendor of the gates. */
type Seller = { serviceId: string; apiKey: string };
type Armed = { purchase: Purchase; messages: number };

/** A gate with what it calls, and what is killed at the armed purchase's point. */
export type Lane = Awaited<ReturnType<typeof startLane>>;

/**
 * Starts a gate before an API of its own. Relays stand between the gate and the payment API and its
 * store, so that a kill can meet each of its messages.
 * @param command of the gate, before its settings file
 */
export const startLane = async ({
  stack,
  seller,
  command,
  purchaseOf,
  ports = createPortPicker(),
}: {
  stack: Pick<Stack, 'gateway_url' | 'redis_url'>;
  seller: Seller;
  command: readonly string[];
  purchaseOf: (path: string) => Purchase | undefined;
  ports?: PortPicker;
}) => {
  const [listen, operations, upstreamPort] = [await ports.any(), await ports.any(), await ports.any()];
  const url = `http://127.0.0.1:${listen}`;
  let gate: GateProcess;
  let armed: Armed | null = null;
  /** Resolves when what was killed runs again. */
  let ready: Promise<unknown> = Promise.resolve();

  const killGate = async (at: string): Promise<void> => {
    armed!.purchase.killedAt = at;
    armed = null;
    await gate.stop('SIGKILL');
    ready = startGate();
  };
  const upstream = createUpstream(upstreamPort, X_PRICE, async ({ path: asked, step, delivery }) => {
    const purchase = purchaseOf(asked);
    if (step === 'asked' && purchase !== undefined) {
      purchase.runs += 1;
      if (delivery !== null) purchase.deliveries.add(delivery);
    }
    const point = armed?.purchase.path === asked ? armed.purchase.point : null;
    if (point === null || point.at !== step) return 'go on';
    if (point.victim === 'gate') {
      await killGate(step);
      return 'go on';
    }
    armed!.purchase.killedAt = step;
    armed = null;
    await upstream.kill();
    ready = upstream.start();
    return 'dead';
  });

  const createWatch = () => {
    let label: string | null = null;
    return {
      asked: async (named: string): Promise<Decision> => {
        const point = armed?.purchase.point;
        if (point == null || !('when' in point)) return 'pass';
        armed!.messages += 1;
        if (armed!.messages - 1 !== point.at) return 'pass';
        if (point.when === 'before') {
          await killGate(named);
          return 'drop';
        }
        label = named;
        return 'pass';
      },
      answered: async (): Promise<Decision> => {
        if (label === null || armed === null) return 'pass';
        const at = label;
        label = null;
        await killGate(at);
        return 'drop';
      },
    };
  };
  const [api, store] = await Promise.all(
    [stack.gateway_url, stack.redis_url].map((target) => startRelay(placeOf(target), createWatch())),
  );
  const startGate = async (): Promise<void> => {
    gate = await startGateProcess(
      command,
      {
        ...{ listen, operations, public_url: url, upstream: `http://127.0.0.1:${upstreamPort}` },
        ...SETTINGS,
      },
      {
        QUITTANCE_URL: `http://127.0.0.1:${api!.port}`,
        STORE_URL: `redis://127.0.0.1:${store!.port}`,
        SERVICE_KEY: seller.apiKey,
        SERVICE_ID: seller.serviceId,
        OFFER_SECRET: 'the secret of the offers of this run',
      },
    );
  };
  await Promise.all([upstream.start(), startGate()]);
  return {
    url,
    /** From now on the purchase's point is met. */
    arm: (purchase: Purchase): void => {
      purchase.isPresented = true;
      armed = purchase.point === null ? null : { purchase, messages: 0 };
    },
    /** Nothing is killed any more. Resolves when gate and API run. */
    disarm: async (): Promise<void> => {
      armed = null;
      await ready;
    },
    stop: async (): Promise<void> => {
      armed = null;
      await ready.catch(() => {});
      await gate.stop('SIGKILL');
      await upstream.kill();
      await Promise.all([api!.stop(), store!.stop()]);
    },
  };
};
