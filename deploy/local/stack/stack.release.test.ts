import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getAssociatedTokenAddressSync, getMint } from '@solana/spl-token';
import { Connection, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js';
import { connect } from 'nats';
import pg from 'pg';
import { loginWith } from '../../../shared/bus/nkey.ts';
import { waitFor, waitUntil } from '../../../test/support/base/wait.ts';
import { identify } from '../processes/process-identity.ts';
import { outsideFolder } from '../servers/postgres-server.ts';
import { environmentKeys } from './keys.ts';
import { seedChain } from './seed-chain.ts';
import type { Settings } from './settings.ts';
import { type RunningStack, startStack } from './stack.ts';
import type { Stack } from './stack-file.ts';

/** Replaces the services: it reports that it is ready and writes its configuration to a file. */
const standIn = `
import { createServer } from 'node:http';
import { writeFileSync } from 'node:fs';
writeFileSync(process.argv[2] + '/' + process.pid + '.json', JSON.stringify(process.env));
createServer((request, response) => response.end('{}')).listen(process.env.HTTP_PORT, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`;

const services = [
  'gateway',
  'quote',
  'settlement',
  'wallet',
  'funding',
  'identity',
  'chain-submitter',
  'webhook',
];

let folder = '';
let running: RunningStack;
let settings: Omit<Settings, 'stackFile' | 'print'>;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'stack-'));
  const program = path.join(folder, 'service.mjs');
  writeFileSync(program, standIn);
  settings = {
    stateDir: path.join(folder, 'state'),
    environments: ['test', 'live'],
    ports: 'any',
    chainSlotMs: 20,
    chainControl: true,
    rateLimitScale: 7,
    instances: { gateway: 2, settlement: 2 },
    durable: false,
    serviceCommand: () => ({ command: process.execPath, args: [program, folder] }),
  };
  running = await startStack(settings);
});

afterAll(async () => {
  await running.stop();
  rmSync(outsideFolder(settings.stateDir), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
});

const stack = (): Stack => JSON.parse(readFileSync(running.stackFile, 'utf8'));

function environmentOf(name: string): Record<string, string> {
  return JSON.parse(readFileSync(path.join(folder, `${stack().processes[name]}.json`), 'utf8'));
}

async function replaced(name: string, pid: number): Promise<number> {
  const now = await waitFor(
    () => stack().processes[name],
    (each) => each !== undefined && each !== pid && Boolean(identify(each)),
  );
  return now!;
}

test('stack.json names every process that runs, and only its owner can read it', () => {
  const { environments, processes, metrics, ...urls } = stack();
  expect(Object.keys(urls)).toEqual([
    'gateway_url',
    'gateway_urls',
    'mail_url',
    'console_url',
    'docs_url',
    'postgres_urls',
    'nats_url',
    'nats_nkey_seed',
    'redis_url',
    'traces_url',
    'dashboards_url',
  ]);
  expect(Object.keys(environments)).toEqual(['test', 'live']);
  expect(Object.keys(environments.test!)).toEqual([
    'rpc_url',
    'ws_url',
    'usdc_mint',
    'fee_wallet',
    'fee_payer',
    'moonpay_url',
    'coinbase_url',
    'operators',
  ]);
  const second = ['gateway#2', 'settlement#2', 'settlement@live#2'];
  const live = services.filter((name) => name !== 'gateway').map((name) => `${name}@live`);
  const servers = [
    'postgres',
    'nats-server',
    'redis-server',
    'chain',
    'chain@live',
    'onramps',
    'onramps@live',
  ];
  expect(new Set(Object.keys(processes))).toEqual(new Set([...services, ...live, ...second, ...servers]));
  expect(new Set(Object.keys(metrics))).toEqual(new Set([...services, ...live, ...second]));
  expect(new Set(Object.values(metrics)).size).toBe(Object.keys(metrics).length);
  for (const url of Object.values(metrics)) expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/);
  for (const pid of Object.values(processes)) expect(identify(pid)).toBeDefined();
  expect(statSync(running.stackFile).mode & 0o777).toBe(0o600);
});

test('each service gets its own secrets and no other’s', () => {
  const quote = environmentOf('quote');
  const keys = environmentKeys(settings.stateDir, 'test');
  expect(quote.SIGNING_KEYS).toBe(`test.quote.1:${keys.signing.quote.seed}`);
  expect(quote.ENVIRONMENT).toBe('test');
  expect(JSON.stringify(quote)).not.toContain(keys.feePayer.secretKey);
  expect(environmentOf('chain-submitter').FEE_PAYER_KEYS).toBe(`1:${keys.feePayer.secretKey}`);
  expect(environmentOf('chain-submitter@live').GENESIS_HASH).not.toBe(
    environmentOf('chain-submitter').GENESIS_HASH,
  );
  expect(quote.POSTGRES_URL).toContain('/quittance_test');
  expect(environmentOf('quote@live').POSTGRES_URL).toContain('/quittance_live');
});

test('the gateway is configured with all environments and the limits', () => {
  const gateway = environmentOf('gateway');
  const environments = JSON.parse(gateway.ENVIRONMENTS!) as { name: string }[];
  expect(environments.map(({ name }) => name)).toEqual(['test', 'live']);
  expect(JSON.parse(gateway.PUBLIC_KEYS!)).toHaveLength(6);
  expect(JSON.parse(readFileSync(gateway.LIMITS_FILE!, 'utf8'))).toEqual({ scale: 7 });
  expect(gateway.PUBLIC_URL).toBe(stack().gateway_url);
});

test('the chain has the mint, the fee account and SOL, and seeding again changes nothing', async () => {
  const { rpc_url, usdc_mint, fee_wallet, fee_payer } = stack().environments.live!;
  const connection = new Connection(rpc_url, 'confirmed');
  const mint = new PublicKey(usdc_mint);
  const feeAccount = getAssociatedTokenAddressSync(mint, new PublicKey(fee_wallet));
  expect(usdc_mint).toBe('EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v');
  expect((await getMint(connection, mint)).decimals).toBe(6);
  expect(environmentOf('settlement@live').X402_NETWORK).toBe('solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp');
  expect((await connection.getTokenAccountBalance(feeAccount)).value.amount).toBe('0');
  const balance = await connection.getBalance(new PublicKey(fee_payer));
  expect(balance).toBe(1000 * LAMPORTS_PER_SOL);

  const keys = environmentKeys(settings.stateDir, 'live');
  const authority = new PublicKey(keys.mintAuthority.address);
  const spent = await connection.getBalance(authority);
  await seedChain(rpc_url, keys);
  expect(await connection.getBalance(authority)).toBe(spent);
});

test('nats_nkey_seed logs into the account of the first environment, with all rights', async () => {
  const { nats_url, nats_nkey_seed } = stack();
  const connection = await connect({ servers: nats_url, ...loginWith(nats_nkey_seed) });
  await (await connection.jetstreamManager()).getAccountInfo();
  await connection.close();
});

test('a service that exceeds its rights is refused here as in a cluster', async () => {
  const { NATS_URL, NATS_NKEY_SEED, POSTGRES_URL } = environmentOf('quote');
  const bus = await connect({ servers: NATS_URL!, ...loginWith(NATS_NKEY_SEED!) });
  const refused: string[] = [];
  void (async () => {
    for await (const { permissionContext } of bus.status() as AsyncIterable<{
      permissionContext?: { operation: string; subject: string };
    }>)
      if (permissionContext) refused.push(`${permissionContext.operation} ${permissionContext.subject}`);
  })();
  for (const subject of ['job.chain-submitter.settle', '$JS.API.STREAM.PURGE.JOBS'])
    bus.publish(subject, '{}');
  bus.subscribe('rpc.settlement.*', { callback: () => {} });
  await bus.flush();
  await waitUntil(() => refused.length >= 3, { withinMs: 30_000 });
  await bus.close();
  expect(new Set(refused)).toEqual(
    new Set([
      'publish job.chain-submitter.settle',
      'publish $JS.API.STREAM.PURGE.JOBS',
      'subscription rpc.settlement.*',
    ]),
  );

  const client = new pg.Client({ connectionString: POSTGRES_URL! });
  await client.connect();
  await expect(client.query('select from settlement.settlements')).rejects.toMatchObject({ code: '42501' });
  await client.end();
});

test('every listed process starts again after kill -9, with its new pid in the file', async () => {
  const before = stack().processes;
  const names = [
    'gateway',
    'settlement#2',
    'quote@live',
    'postgres',
    'nats-server',
    'redis-server',
    'chain',
    'onramps@live',
  ];
  for (const name of names) process.kill(before[name]!, 'SIGKILL');
  for (const name of names) await replaced(name, before[name]!);
  expect(new Set(Object.keys(stack().processes))).toEqual(new Set(Object.keys(before)));
  expect(stack().processes.wallet).toBe(before.wallet);
});

test('a second start with the same state is refused and does not affect the first', async () => {
  await expect(startStack(settings)).rejects.toThrow(/already running/);
  expect(existsSync(running.stackFile)).toBe(true);
});

test('a stop leaves no file and no process, and the next start has the same mint', async () => {
  const before = stack();
  await running.stop();
  expect(existsSync(running.stackFile)).toBe(false);
  expect(Object.values(before.processes).filter((pid) => identify(pid))).toEqual([]);

  running = await startStack(settings);
  expect(running.stack.environments.test!.usdc_mint).toBe(before.environments.test!.usdc_mint);
});

test('an interrupted start stops every process that it started', async () => {
  const starting = new AbortController();
  const stateDir = path.join(folder, 'interrupted');
  const start = startStack({ ...settings, stateDir, signal: starting.signal });
  setTimeout(() => starting.abort(new Error('stopped')), 400);
  await expect(start).rejects.toThrow(/stopped/);
  expect(existsSync(path.join(stateDir, 'lock.json'))).toBe(false);
  rmSync(outsideFolder(stateDir), { recursive: true, force: true });
});

test('an external server is used as it is, and an external NATS is refused for two environments', async () => {
  const external = { natsUrl: 'nats://127.0.0.1:1' };
  const start = startStack({ ...settings, stateDir: path.join(folder, 'external'), external });
  await expect(start).rejects.toThrow(/one environment/);
});

test('a well-known port in use is replaced by the next free one', async () => {
  const { createPortPicker } = await import('../servers/ports.ts');
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const taken = (other.address() as AddressInfo).port;
  const picker = createPortPicker();
  const first = await picker.from(taken);
  expect(first).toBeGreaterThan(taken);
  expect(await picker.from(taken)).toBeGreaterThan(first);
  const pair = await picker.pairFrom(taken);
  expect(pair).toBeGreaterThan(first + 1);
  other.close();
});
