import { setTimeout as sleep } from 'node:timers/promises';
import type { PortPicker } from '../../../deploy/local/servers/ports.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { type GateProcess, startGateProcess } from '../../support/actors/gate-process.ts';
import { startApiRelay } from './api-relay.ts';
import type { Attack, Deaths } from './attacks.ts';
import { placeOf, startRelay } from './relay.ts';
import { createUpstream } from './upstream.ts';

/** Two gates with one address, one store and one API behind them. */

const METERED = { max: '$0.20', tab: true, window: '30m' };
const ROUTES = [
  { match: 'GET /tab/**', ...METERED, price_header: 'X-Price', per_call: '$0.02' },
  { match: 'GET /again/**', ...METERED, price_header: 'X-Price', per_call: '$0.02', replay: false },
  { match: 'GET /fixed/**', ...METERED, price: '$0.012' },
  { match: 'GET /goods/**', price: '$0.05' },
];
const X_PRICE = '0.012 USDC';
export const REPLICAS = [0, 1] as const;
/** A gate reports once a second. A busy one is slower. */
const REPORTED_MS = 6000;
const POLL_MS = 50;

type Place = {
  stack: Pick<Stack, 'gateway_url' | 'redis_url'>;
  seller: { serviceId: string; apiKey: string };
  /** Of a gate, before its settings file. */
  command: readonly string[];
  attackOf: (path: string) => Attack | undefined;
  ports: PortPicker;
};

/**
 * Starts two gates and what is between them and the others: a relay to the payment API, which can
 * refuse reports of use, and one to the store, which can hold a message until its gate dies.
 */
export const startReplicas = async ({ stack, seller, command, attackOf, ports }: Place) => {
  const [upstreamPort, publicPort] = [await ports.any(), await ports.any()];
  const origin = `http://127.0.0.1:${publicPort}`;
  const deaths: Deaths = { gates: [], upstream: [] };
  /** What an attack waits for at a step: the death of its gate or of the API. */
  const armed = new Map<string, { attack: Attack; replica: number }>();
  /** By gate: the attack whose record is not written before its gate dies. */
  const unrecorded = new Map<number, Attack>();
  const given = new Map<string, PromiseWithResolvers<void>>();
  const gates: { process: GateProcess | null; ready: Promise<unknown>; port: number }[] = [];
  const apis = await Promise.all(REPLICAS.map(() => startApiRelay(stack.gateway_url)));

  const killGate = async (replica: number): Promise<void> => {
    const gate = gates[replica]!;
    if (gate.process === null) return;
    const { process } = gate;
    gate.process = null;
    deaths.gates.push({ replica, at: Date.now() });
    await process.stop('SIGKILL');
    gate.ready = startGate(replica);
  };
  /** Holds the record of a call that the gate has reported, and the gate dies with it. */
  const dieUnrecorded = async (replica: number, attack: Attack): Promise<void> => {
    unrecorded.delete(replica);
    const until = Date.now() + REPORTED_MS;
    const { accepted } = apis[replica]!;
    const isReported = () => accepted.some(({ settlementId }) => settlementId === attack.settlementId);
    while (!isReported() && Date.now() < until) await sleep(POLL_MS);
    attack.isMet = isReported();
    await killGate(replica);
  };
  const stores = await Promise.all(
    REPLICAS.map((replica) =>
      startRelay(placeOf(stack.redis_url), {
        asked: async (_label, chunk) => {
          const attack = unrecorded.get(replica);
          if (attack === undefined || !chunk.includes('"done":')) return 'pass';
          await dieUnrecorded(replica, attack);
          return 'drop';
        },
        answered: async () => 'pass',
      }),
    ),
  );
  const startGate = async (replica: number): Promise<void> => {
    const { port } = gates[replica]!;
    gates[replica]!.process = await startGateProcess(
      command,
      {
        ...{ listen: port, operations: await ports.any(), public_url: origin },
        ...{ upstream: `http://127.0.0.1:${upstreamPort}`, routes: ROUTES, hosts: ['127.0.0.1'] },
        timeouts: { connect: '1s', answer: '10s' },
      },
      {
        QUITTANCE_URL: `http://127.0.0.1:${apis[replica]!.port}`,
        STORE_URL: `redis://127.0.0.1:${stores[replica]!.port}`,
        SERVICE_KEY: seller.apiKey,
        SERVICE_ID: seller.serviceId,
      },
    );
  };
  const upstream = createUpstream(upstreamPort, X_PRICE, async ({ path: url, step, delivery }) => {
    const path = url.split('?')[0]!;
    if (step === 'gave up') {
      given.get(url)?.resolve();
      return 'go on';
    }
    const attack = attackOf(path);
    if (step === 'asked' && attack !== undefined) {
      attack.runs += 1;
      if (delivery !== null) attack.deliveries.add(delivery);
    }
    const mishap = armed.get(path)?.attack.mishap;
    if (mishap?.kind !== 'dies' || mishap.at !== step) return 'go on';
    const { replica } = armed.get(path)!;
    armed.delete(path);
    attack!.isMet = true;
    if (mishap.victim === 'gate') {
      await killGate(replica);
      return 'go on';
    }
    deaths.upstream.push(Date.now());
    await upstream.kill();
    await upstream.start();
    return 'dead';
  });
  for (const _ of REPLICAS) gates.push({ process: null, ready: Promise.resolve(), port: await ports.any() });
  await Promise.all([upstream.start(), ...REPLICAS.map(startGate)]);
  return {
    ...{ origin, deaths },
    host: `127.0.0.1:${publicPort}`,
    portOf: (replica: number): number => gates[replica]!.port,
    /** Resolves when both gates run. */
    ready: () => Promise.all(gates.map(({ ready }) => ready)),
    /** The next call of the attack, at this replica, meets its mishap. */
    arm: (attack: Attack, replica: number): void => {
      const { mishap, path, settlementId } = attack;
      if (mishap.kind === 'dies') armed.set(path, { attack, replica });
      if (mishap.kind === 'dies unrecorded') unrecorded.set(replica, attack);
      if (mishap.kind !== 'reports refused' || settlementId === null) return;
      attack.isMet = true;
      const refusal = { status: mishap.status, until: Date.now() + mishap.forMs };
      for (const api of apis) api.refuse(settlementId, refusal);
    },
    disarm: ({ path }: Attack): void => {
      armed.delete(path);
      for (const [replica, attack] of unrecorded) if (attack.path === path) unrecorded.delete(replica);
    },
    /** Resolves when the API has given up the answer to this address. */
    givenUp: (url: string): Promise<void> => {
      const found = given.get(url) ?? Promise.withResolvers<void>();
      given.set(url, found);
      return found.promise;
    },
    /** When the last report of a gate about an authorization was sent that was accepted before. */
    reportedBy: (replica: number, settlementId: string, before: number): number | null =>
      apis[replica]!.accepted.findLast((each) => each.settlementId === settlementId && each.sentAt < before)
        ?.sentAt ?? null,
    /** Both gates end. Each reports first what was used of it. */
    drain: async (): Promise<void> => {
      await Promise.all(gates.map(({ ready }) => ready.catch(() => {})));
      await Promise.all(gates.map((gate) => gate.process?.stop()));
      for (const gate of gates) gate.process = null;
    },
    refused: () => apis.reduce((sum, api) => sum + api.refused(), 0),
    stop: async (): Promise<void> => {
      armed.clear();
      unrecorded.clear();
      await Promise.all(gates.map(({ ready }) => ready.catch(() => {})));
      await Promise.all(gates.map((gate) => gate.process?.stop('SIGKILL')));
      await upstream.kill();
      await Promise.all([...apis, ...stores].map((relay) => relay.stop()));
    },
  };
};
export type Replicas = Awaited<ReturnType<typeof startReplicas>>;
