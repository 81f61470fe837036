import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { containerOf, inspect, nodeIn, services } from './running.ts';

/**
 * Proves what the networks of compose.yaml allow: chain-submitter, which holds the signing keys,
 * connects to its servers and to no other container, and to no address outside.
 */
const SERVERS = { nats: 4222, postgres: 5432, chain: 8899 };
const JOBS = ['migrate', 'setup-bus', 'seed'];
const others = Object.keys(services).filter(
  (name) => !JOBS.includes(name) && name !== 'chain-submitter' && !Object.hasOwn(SERVERS, name),
);
/** A port on which each of the other containers listens. */
const portOf = (name: string): number => ({ redis: 6379, mail: 8025, onramps: 8090 })[name] ?? 3000;

/** A server outside of all containers, at an address of the machine that runs the engine. */
const outside = createServer((socket) => socket.on('error', () => {}).end());
let outsideAddress = '';
let outsidePort = 0;
beforeAll(async () => {
  outside.listen(0, '0.0.0.0');
  await once(outside, 'listening');
  outsidePort = (outside.address() as AddressInfo).port;
  const found = Object.entries(networkInterfaces()).find(([name]) => !/^(lo|docker|br-|veth)/.test(name));
  outsideAddress = found![1]!.find(({ family }) => family === 'IPv4')!.address;
});
afterAll(() => {
  outside.close();
});

type Target = { name: string; host: string; port: number };

/** The targets, by name, to which a container can connect within a second. */
const reachedFrom = async (service: string, targets: readonly Target[]): Promise<string[]> => {
  const script = `
    import { connect } from 'node:net';
    const reaches = ({ host, port }) => new Promise((resolve) => {
      const socket = connect({ host, port, timeout: 1000 });
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('timeout', () => resolve(false));
      socket.on('close', () => socket.destroy());
    });
    const targets = ${JSON.stringify(targets)};
    const found = await Promise.all(targets.map(reaches));
    console.log(JSON.stringify(targets.filter((_, index) => found[index]).map(({ name }) => name)));
    process.exit(0);
  `;
  return JSON.parse(await nodeIn(service, script)) as string[];
};

/** Every address of a container, in all its networks. */
const addressesOf = async (name: string): Promise<Target[]> => {
  const { NetworkSettings } = await inspect(await containerOf(name));
  return Object.entries(NetworkSettings.Networks).map(([network, { IPAddress }]) => ({
    name: `${name} in ${network}`,
    host: IPAddress,
    port: portOf(name),
  }));
};

test('chain-submitter connects to NATS, Postgres and the chain by name', async () => {
  const servers = Object.entries(SERVERS).map(([name, port]) => ({ name, host: name, port }));
  expect(await reachedFrom('chain-submitter', servers)).toEqual(Object.keys(SERVERS));
});

test('chain-submitter connects to no other container, by no address of it', async () => {
  const targets = (await Promise.all(others.map(addressesOf))).flat();
  expect(targets.length).toBeGreaterThanOrEqual(others.length);
  expect(await reachedFrom('chain-submitter', targets)).toEqual([]);
  // Those that share a network with the gateway are reached from there, so they listen.
  const fromGateway = await reachedFrom('gateway', targets);
  expect(new Set(fromGateway.map((name) => name.split(' ')[0]))).toEqual(new Set(others));
});

test('chain-submitter reaches no address outside, which the webhook service does', async () => {
  const target = { name: 'outside', host: outsideAddress, port: outsidePort };
  expect(await reachedFrom('webhook', [target])).toEqual(['outside']);
  expect(await reachedFrom('chain-submitter', [target])).toEqual([]);
});

test('only the containers that must reach the outside have a route there', async () => {
  const script = `
    import { readFileSync } from 'node:fs';
    const rows = readFileSync('/proc/net/route', 'utf8').trim().split('\\n').slice(1);
    console.log(rows.some((row) => row.split('\\t')[1] === '00000000'));
  `;
  const running = Object.keys(services).filter(
    (name) => !JOBS.includes(name) && services[name]!.image.startsWith('quittance'),
  );
  const routed = await Promise.all(
    running.map(async (name) => ((await nodeIn(name, script)) === 'true' ? [name] : [])),
  );
  expect(routed.flat().sort()).toEqual(['chain', 'gateway', 'mail', 'onramps', 'webhook']);
});
