import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { flowsOfCode } from '../support/k8s/code-flows.ts';
import { allowedFlows } from '../support/k8s/flows.ts';
import { render } from '../support/k8s/render.ts';
import { type Installation, runningInstallation, TRIAL_FOLDER } from './support/installation.ts';
import type { ClusterObject } from './support/kubectl.ts';

/**
 * Proves that the API server has stored every network policy as it is written, and that the stored
 * policies allow the connections of the code and no other. Whether a connection is really refused
 * depends on the cluster's network plugin: a forbidden one is tried, and the result is printed.
 */
let installation: Installation;
let rendered: ClusterObject[] = [];
let stored: ClusterObject[] = [];

/** The policies of the pod through which the tests call, which no installation has. */
const isOfTests = ({ metadata }: ClusterObject): boolean => /^edge(-to-|$)/.test(metadata.name);

beforeAll(async () => {
  installation = await runningInstallation();
  rendered = render(TRIAL_FOLDER);
  stored = (await installation.kubectl.list('networkpolicies')).filter((each) => !isOfTests(each));
});
afterAll(() => installation?.close());

const isPolicy = ({ kind }: ClusterObject): boolean => kind === 'NetworkPolicy';

test('every policy is stored as it is written, and no other', () => {
  const specs = (policies: readonly ClusterObject[]) =>
    new Map(policies.map(({ metadata, spec }) => [metadata.name, spec]));
  expect(stored.length).toBeGreaterThan(12);
  expect(specs(stored)).toEqual(specs(rendered.filter(isPolicy)));
});

test('the stored policies allow the connections of the code, and no other', () => {
  const objects = [...rendered.filter((each) => !isPolicy(each)), ...stored] as Parameters<
    typeof allowedFlows
  >[0];
  expect([...allowedFlows(objects)].sort()).toEqual([...flowsOfCode(objects)].sort());
});

/** Connects from a pod to a port. Prints `open`, or why it is not: `ETIMEDOUT`, `ECONNREFUSED`. */
const CONNECT = `
  const [host, port] = process.argv.slice(1);
  const socket = require('node:net').connect({ host, port: Number(port), timeout: 5000 });
  const end = (line) => { console.log(line); process.exit(0); };
  socket.on('connect', () => end('open')).on('timeout', () => end('ETIMEDOUT')).on('error', ({ code }) => end(code));
`;
const connect = (from: string, host: string, port: number): Promise<string> =>
  installation.kubectl
    .exec(`deployment/${from}`, ['node', '--eval', CONNECT, '--', host, String(port)])
    .then((line) => line.trim());

test('the gateway reaches its Redis, and the database only where no plugin enforces policies', async () => {
  expect(await connect('gateway', 'redis', 6379)).toBe('open');
  const forbidden = await connect('gateway', 'postgres-rw', 5432);
  const isEnforced = forbidden !== 'open';
  process.stdout.write(
    isEnforced
      ? `  network policies: the plugin enforces them (gateway to the database: ${forbidden})\n`
      : '  network policies: this plugin does not enforce policies\n',
  );
  if (process.env.CLUSTER_POLICIES_ENFORCED === 'true') expect(forbidden).not.toBe('open');
});
