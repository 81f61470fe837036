import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express, { type RequestHandler } from 'express';
import { paid } from '../../../sdk/src/paywall/adapters/express.ts';
import { mpp } from '../../../sdk/src/paywall/dialects/mpp.ts';
import { x402 } from '../../../sdk/src/paywall/dialects/x402.ts';
import { createPaywall, memoryStore } from '../../../sdk/src/paywall/main.ts';
import { refusalIn } from '../../support/rules/refusals.ts';
import type { Rng } from '../rng.ts';
import type { Log } from './log.ts';

/**
 * A client of Quittance pays a quote before it presents it. A higher price then refuses what is
 * paid and not yet known (docs/adr/0021-paywall.md), so the price of its routes does not change.
 */
export const FIXED_PRICE = 50_000n;
const PRICES = [40_000n, 50_000n, 60_000n] as const;
export const MOST_PRICE = PRICES[2];
const REPLICAS = 2;
/** The address in the quotes, whichever replica answers. */
export const PUBLIC_URL = 'https://shop.example';

/** `secrets`: the one that signs offers, then the previous ones. */
type Configuration = { price: bigint; secrets: readonly string[]; serviceKey: string };

const newSecret = () => crypto.randomUUID() + crypto.randomUUID();

const ACCEPT_FOREIGN = '/v1/settlements/foreign';

/** Calls the API, and records what it refuses about signed messages. */
const recording =
  (log: Log): typeof fetch =>
  async (input, init) => {
    const askedAt = Date.now();
    const response = await fetch(input, init);
    const { body } = init ?? {};
    if (response.ok || typeof body !== 'string' || !String(input).endsWith(ACCEPT_FOREIGN)) return response;
    const { transaction } = JSON.parse(body) as { transaction: string };
    const refusal = refusalIn(await response.clone().json());
    if (refusal !== null) log.refused(transaction, { ...refusal, askedAt, at: Date.now() });
    return response;
  };

/**
 * A vendor with our paywall in every dialect: two replicas with one store. Its configuration
 * changes while payments are open, and a replica that is restarted forgets all it knew.
 * @param gateways each replica calls another gateway
 * @param rotateKey makes a new service key, beside which the previous one is accepted for a while
 */
export const startShop = async ({
  gateways,
  serviceId,
  serviceKey,
  rotateKey,
  log,
}: {
  gateways: readonly string[];
  serviceId: string;
  serviceKey: string;
  rotateKey: () => Promise<string>;
  log: Log;
}) => {
  const store = memoryStore();
  let now: Configuration = { price: PRICES[1], secrets: [newSecret()], serviceKey };
  const servers: Server[] = [];

  const startReplica = async (at: number, port: number): Promise<string> => {
    const { serviceKey: key, secrets: secret } = now;
    const paywall = createPaywall({
      ...{ baseUrl: gateways[at % gateways.length]!, serviceKey: key, serviceId, environment: 'test' },
      ...{ publicUrl: PUBLIC_URL, store, log: () => {}, fetch: recording(log) },
      dialects: [x402({ secret }), mpp({ secret })],
    });
    const app = express();
    const deliver: RequestHandler = ({ path }, response) => {
      response.json({ path, run: log.ran(path) });
    };
    app.get('/goods/:number', paid(paywall, { price: () => `${now.price}` }), deliver);
    app.get('/fixed/:number', paid(paywall, { price: `${FIXED_PRICE}` }), deliver);
    const server = app.listen(port, '127.0.0.1');
    await once(server, 'listening');
    servers[at] = server;
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  const urls: readonly string[] = await Promise.all(
    Array.from({ length: REPLICAS }, (_, at) => startReplica(at, 0)),
  );

  const stopReplica = async (at: number): Promise<void> => {
    const ended = new Promise((resolve) => servers[at]!.close(resolve));
    servers[at]!.closeAllConnections();
    await ended;
  };
  /** What it was doing goes on without its buyers, as in a process that lost its network. */
  const restart = async (at: number): Promise<void> => {
    const { port } = new URL(urls[at]!);
    await stopReplica(at);
    await startReplica(at, Number(port));
  };
  /** The replicas are deployed one after the other, so for a while they differ. */
  const deploy = async (change: Partial<Configuration>): Promise<void> => {
    now = { ...now, ...change };
    for (let at = 0; at < REPLICAS; at += 1) await restart(at);
  };

  let changing: Promise<unknown> = Promise.resolve();
  return {
    urls,
    /** Changes something, after the changes before it. */
    change: (rng: Rng): Promise<unknown> => {
      const changes = [
        async () => {
          now = { ...now, price: rng.pick(PRICES) };
        },
        () => restart(rng.int(0, REPLICAS)),
        () => deploy({ secrets: [newSecret(), ...now.secrets] }),
        async () => {
          const next = await rotateKey().catch(() => null);
          if (next !== null) await deploy({ serviceKey: next });
        },
      ];
      changing = changing.then(rng.pick(changes));
      return changing;
    },
    stop: async (): Promise<void> => {
      await changing;
      await Promise.all(servers.map((_, at) => stopReplica(at)));
    },
  };
};
