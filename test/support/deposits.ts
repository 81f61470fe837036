import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import type { z } from 'zod';
import { forward } from '../../shared/bus/call.ts';
import { serve } from '../../shared/bus/serve.ts';
import type { Deposit } from '../../shared/contract/funding/deposits.ts';
import { funding, wallet } from '../../shared/contract/index.ts';
import type { Handlers } from '../../shared/contract/service.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { encodeBase58 } from '../../shared/lib/base58.ts';
import { newId } from '../../shared/lib/id.ts';
import { createTestBus } from './bus.ts';
import { AUTHORITY, startChainStandIn } from './chain-stand-in.ts';
import { createTestDatabase } from './database.ts';
import { type ServiceProcess, startService } from './service-process.ts';
import { waitFor } from './wait.ts';
import {
  coinbaseEvent,
  coinbaseWebhook,
  moonpayEvent,
  moonpayWebhook,
  type SignedWebhook,
} from './webhooks.ts';

/**
 * The funding service with both providers configured, called as the gateway calls it. The chain
 * shows the transfers that a test includes; the providers' APIs answer what a test has set.
 */
type DepositView = z.infer<typeof Deposit>;
type Provider = DepositView['provider'];

const ACCOUNT = newId('acct');
const WALLET = newId('wal');
export const OWNER = encodeBase58(new Uint8Array(32).fill(7));
/** The keys that webhooks are signed with. */
export const KEYS = { moonpay: 'wk_test_key', coinbase: '123e4567-e89b-12d3-a456-426614174000' };
/** The amount that `report` reports as bought. */
export const AMOUNT = '48500000';
/** The path of Coinbase's sessions at the stand-in. */
export const SESSIONS = '/platform/v2/onramp/sessions';

/** Coinbase's statuses for MoonPay's. */
const CODES = {
  waitingPayment: 'AWAITING_PAYMENT',
  pending: 'IN_PROGRESS',
  completed: 'SUCCESS',
  failed: 'FAILED',
};

/** An HTTP server in place of both providers. It answers 500 where a test has set no answer. */
const startProviders = async () => {
  const answers = new Map<string, { status: number; body: unknown }>();
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url!.split('?')[0]!;
    requests.push(path);
    const { status, body } = answers.get(path) ?? { status: 500, body: 'oops' };
    request.resume();
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  return {
    answers,
    requests,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.closeAllConnections();
      return new Promise((done) => server.close(done));
    },
  };
};

export const startDepositsFixture = async () => {
  const [database, testBus, providers] = await Promise.all([
    createTestDatabase(),
    createTestBus(),
    startProviders(),
  ]);
  const gateway = await testBus.as('gateway');
  const chain = startChainStandIn(await testBus.as('chain-submitter'));
  const admin = new pg.Client({
    connectionString: database.adminUrl,
    options: '-c search_path=funding,public',
  });
  await admin.connect();
  const find = async ({ account_id, wallet_id }: { account_id: string; wallet_id?: string }) =>
    account_id === ACCOUNT && wallet_id === WALLET
      ? { wallet_id: WALLET, owner: OWNER, token_account: OWNER, authority: AUTHORITY }
      : null;
  // The funding service calls no other operation of wallet here.
  serve(await testBus.as('wallet'), wallet, { find } as unknown as Handlers<typeof wallet>);

  const { url, answers, requests } = providers;
  const config = {
    MOONPAY: JSON.stringify({
      publishable_key: 'pk',
      secret_key: 'sk',
      webhook_key: KEYS.moonpay,
      widget_url: `${url}/`,
      api_url: `${url}/api`,
    }),
    COINBASE: JSON.stringify({
      key_id: 'key',
      key_secret: Buffer.alloc(64, 3).toString('base64'),
      webhook_secret: KEYS.coinbase,
      user_ref_prefix: 'sandbox-',
      api_url: `${url}/platform`,
      status_url: `${url}/onramp`,
    }),
  };
  let service: ServiceProcess | undefined;
  /** Starts the service, or restarts it with other settings. */
  const start = async (env: Record<string, string> = config): Promise<ServiceProcess> => {
    await service?.stop();
    service = await startService('funding', { CURSOR_KEY: 'a'.repeat(43), ...env }, { testBus, database });
    return service;
  };

  const caller = { kind: 'jwt', account_id: ACCOUNT, session_id: 'ses', auth_time: 1 } as const;
  const options = { timeoutMs: 20_000, headers: {} };
  const asAccount = (name: keyof typeof funding.operations, input: object, call: object = {}) =>
    forward(gateway, funding, name, input, caller, { ...options, ...call });

  const create = (provider: Provider, wallet_id = WALLET, call: object = {}) =>
    asAccount(
      'createDeposit',
      { wallet_id, provider, fiat_currency: 'USD', fiat_amount: '50.00' },
      call,
    ) as Promise<DepositView>;
  const get = (deposit_id: string) => asAccount('getDeposit', { deposit_id }) as Promise<DepositView>;
  const newest = async () =>
    ((await asAccount('listDeposits', { limit: '1' })) as { data: DepositView[] }).data[0];

  /** Sends a webhook. @returns the error code of the answer, `ok` for 200 */
  const sendWebhook = (provider: Provider, { body, headers }: SignedWebhook): Promise<string> => {
    const raw_body = Buffer.from(body).toString('base64');
    const input = { provider, environment: 'test', raw_body, raw_headers: headers };
    return forward(gateway, funding, 'providerWebhook', input, { kind: 'none' }, options).then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
  };

  /** Sends a correctly signed webhook of the deposit's provider. The statuses are MoonPay's. */
  const report = (
    { deposit_id, provider }: DepositView,
    status: keyof typeof CODES,
    more: { hash?: string | null; wallet?: string; payment?: string } = {},
  ): Promise<string> => {
    const { hash = null, wallet: to = OWNER, payment } = more;
    const about = { deposit_id, wallet: to };
    if (provider === 'moonpay') {
      const data = { status, cryptoTransactionId: hash, ...(payment && { id: payment }) };
      return sendWebhook(provider, moonpayWebhook(KEYS.moonpay, moonpayEvent(about, data)));
    }
    const data = {
      status: `ONRAMP_TRANSACTION_STATUS_${CODES[status]}`,
      txHash: hash ?? '',
      ...(payment && { transactionId: payment }),
    };
    return sendWebhook(provider, coinbaseWebhook(KEYS.coinbase, coinbaseEvent(about, data)));
  };

  const until = (depositId: string, good: (deposit: DepositView) => boolean): Promise<DepositView> =>
    waitFor(() => get(depositId), good);

  /** The statuses of the events `depositChanged`, by deposit. */
  const published = new Map<string, string[]>();
  const subscription = subscribe(
    await testBus.as('webhook'),
    funding,
    {
      depositChanged: async ({ account_id, deposit: { deposit_id, status } }) => {
        if (account_id === ACCOUNT) published.set(deposit_id, [...(published.get(deposit_id) ?? []), status]);
      },
    },
    async () => {},
  );

  return {
    database,
    chain,
    config,
    answers,
    requests,
    start,
    create,
    /** The same with an Idempotency-Key. */
    createOnce: (provider: Provider, idempotencyKey: string, timeoutMs = 20_000) =>
      create(provider, WALLET, { idempotencyKey, timeoutMs }),
    count: async () => Number((await admin.query('select count(*) from deposits')).rows[0].count),
    get,
    newest,
    sendWebhook,
    report,
    until,
    publishedStatuses: (depositId: string): string[] => published.get(depositId) ?? [],
    /** How often the deposit was polled since its last change. */
    pollCount: async (depositId: string) =>
      Number(
        (await admin.query('select poll_count from deposits where deposit_id = $1', [depositId])).rows[0]
          .poll_count,
      ),
    /** The reports of the provider that are recorded. */
    reports: async (depositId: string) =>
      (
        await admin.query<{ source: string }>(
          'select * from deposit_reports where deposit_id = $1 order by report_id',
          [depositId],
        )
      ).rows,
    /** Includes a finalized transaction in the chain that transfers these amounts to any owner. */
    include: (hash: string, ...amounts: string[]) =>
      chain.observedTransfers.set(hash, {
        status: 'finalized',
        transfers: amounts.map((amount, index) => ({ instruction: `${index}`, source: AUTHORITY, amount })),
      }),
    stop: async () => {
      await service?.stop();
      await subscription.stop();
      await Promise.all([chain.stop(), admin.end(), providers.stop()]);
      await Promise.all([database.drop(), testBus.stop()]);
    },
  };
};
export type DepositsFixture = Awaited<ReturnType<typeof startDepositsFixture>>;

let hashes = 0;
/** An unused transaction hash. */
export const newHash = (): string => encodeBase58(Buffer.alloc(64, ++hashes));
