import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { displayUsdc } from '../../../shared/lib/money/usdc.ts';
import { writeAtomically } from '../processes/atomic-file.ts';
import { connectTo } from '../processes/chain-connection.ts';
import type { Stack, StackEnvironment } from '../stack/stack-file.ts';
import { createDelegate, createVendor, type Paid, quoteOf, settleWith } from './actors.ts';
import { type Api, createApi, must, patientApi } from './api.ts';
import { signIn } from './sign-in.ts';
import { allowSpending, fund, linkWallet } from './wallet.ts';

const VENDOR = 'vendor@example.com';
const CONSUMER = 'consumer@example.com';
const LEAST = 10_000_000n;
const TOP_UP = 100_000_000n;

/**
 * What a second start cannot read from the system, because keys are stored as hashes and wallets
 * belong to the user.
 */
type Seed = {
  consumer_wallet: string;
  vendor?: { api_key: string; service_id: string; payout_address: string };
  delegate_key?: string;
};

/**
 * The seed of this state folder. It is written after each step, so an interrupted start resumes
 * there.
 */
const openSeed = (file: string) => {
  const seed: Seed = existsSync(file)
    ? (JSON.parse(readFileSync(file, 'utf8')) as Seed)
    : { consumer_wallet: bs58.encode(Keypair.generate().secretKey) };
  const save = () => writeAtomically(file, `${JSON.stringify(seed)}\n`, 0o600);
  save();
  return { seed, save };
};

const seededVendor = async (api: Api, stack: Stack, { seed, save }: ReturnType<typeof openSeed>) => {
  if (seed.vendor === undefined) {
    const vendor = await createVendor(api, stack, { email: VENDOR });
    const payout_address = vendor.payout.publicKey.toBase58();
    seed.vendor = { api_key: vendor.apiKey, service_id: vendor.serviceId, payout_address };
    save();
  }
  const { api_key, service_id, payout_address } = seed.vendor;
  return { apiKey: api_key, serviceId: service_id, payoutAddress: payout_address };
};

const seededConsumer = async (api: Api, stack: Stack, { seed, save }: ReturnType<typeof openSeed>) => {
  const wallet = Keypair.fromSecretKey(bs58.decode(seed.consumer_wallet));
  const { access_token: token, account } = await signIn(api, stack, CONSUMER, 'test');
  // Linking a linked wallet returns the same wallet.
  const view = await linkWallet(api, token, account.account_id, wallet);
  if (BigInt(view.balance) < LEAST) await fund(api, token, view.wallet_id, TOP_UP);
  if (BigInt(view.delegation.allowance) < LEAST)
    await allowSpending(api, token, view.wallet_id, wallet, TOP_UP);
  if (seed.delegate_key === undefined) {
    const owner = { token, walletId: view.wallet_id };
    const limits = { daily: LEAST.toString() };
    seed.delegate_key = (await createDelegate(api, owner, limits, { name: 'An agent to try with' })).api_key;
    save();
  }
  return { token, wallet, walletId: view.wallet_id, delegateKey: seed.delegate_key };
};

/** USDC of each owner, by the owner's role. */
const balancesOf = async (chain: StackEnvironment, owners: Record<string, string>) => {
  const connection = connectTo(chain.rpc_url);
  const mint = new PublicKey(chain.usdc_mint);
  return Object.fromEntries(
    await Promise.all(
      Object.entries(owners).map(async ([who, owner]) => {
        const account = getAssociatedTokenAddressSync(mint, new PublicKey(owner), true);
        const balance = await connection.getTokenAccountBalance(account).then(
          ({ value }) => BigInt(value.amount),
          () => 0n,
        );
        return [who, balance] as const;
      }),
    ),
  );
};

/**
 * Seeds a vendor and a consumer in the test environment and makes one payment through the public
 * API. The output lets a reader follow the payment and repeat it with curl.
 */
export const transcript = async (
  stack: Stack,
  print: (line: string) => void,
  stateDir: string,
): Promise<void> => {
  const chain: StackEnvironment | undefined = stack.environments.test;
  if (chain === undefined) return;
  const opened = openSeed(path.join(stateDir, 'seed-test.json'));
  const api = patientApi(createApi(stack.gateway_url));
  const vendor = await seededVendor(api, stack, opened);
  const consumer = await seededConsumer(api, stack, opened);

  const owners = {
    consumer: consumer.wallet.publicKey.toBase58(),
    vendor: vendor.payoutAddress,
    'fee wallet': chain.fee_wallet,
  };
  const balances = () => balancesOf(chain, owners);

  print('\nSeeded in the test environment');
  print(`  vendor           ${VENDOR}`);
  print(`  consumer         ${CONSUMER}   wallet ${consumer.walletId}`);
  print(`  consumer token   ${consumer.token}`);
  const variables = {
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_ID: vendor.serviceId,
    SERVICE_KEY: vendor.apiKey,
    DELEGATE_KEY: consumer.delegateKey,
  };
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}=${value}`);
  writeAtomically(path.join(stateDir, 'env'), `${lines.join('\n')}\n`, 0o600);
  const about = `the delegate key pays up to ${displayUsdc(LEAST)} a day from that wallet`;
  print(
    `\nTo sell and to pay, for a shell (also in ${path.join(path.basename(stateDir), 'env')}; ${about}):`,
  );
  for (const line of lines) print(`  ${line}`);

  print('\nOne payment through the public API');
  const before = await balances();
  const quote = await quoteOf(api, vendor, { scope: { resource: 'GET /forecast/berlin' } });
  const [gross, fee] = [BigInt(quote.quote_amount), BigInt(quote.fee_amount)];
  print('  POST /v1/quote');
  print(
    `    ${quote.quote_id}   ${displayUsdc(gross)}, of which ${displayUsdc(fee)} fee; expires ${quote.expires_at}`,
  );

  const attemptId = `transcript-${crypto.randomUUID()}`;
  const startedAt = performance.now();
  const paid: Paid = await must(settleWith(api, consumer.token, quote, attemptId), 'settle');
  print(`  POST /v1/settle   payment_attempt_id ${attemptId}`);
  print(`    ${paid.settlement_id}   ${paid.status} after ${Math.round(performance.now() - startedAt)} ms`);
  print(`    transaction ${paid.tx_hash}`);

  const redeemed = await must(
    api<{ status: string; redeemed_at: string }>(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token, redeem_id: 'transcript' },
    }),
    'redeem',
  );
  print(`  POST /v1/settlements/${paid.settlement_id}/redeem`);
  print(`    ${redeemed.status} at ${redeemed.redeemed_at}`);

  const after = await balances();
  print('  On chain');
  for (const who of Object.keys(owners)) {
    print(`    ${who.padEnd(12)} ${displayUsdc(before[who]!).padStart(16)} → ${displayUsdc(after[who]!)}`);
  }
};
