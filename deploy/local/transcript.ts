import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, Keypair, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { displayUsdc } from '../../shared/lib/micro.ts';
import { writeAtomically } from './atomic-file.ts';
import { type Api, createApi, must } from './people/api.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from './people/people.ts';
import { signIn } from './people/sign-in.ts';
import { allowSpending, fund, type WalletView } from './people/wallet.ts';
import type { Stack, StackEnvironment } from './stack-file.ts';

const VENDOR = 'vendor@example.com';
const CONSUMER = 'consumer@example.com';
const LEAST = 10_000_000n;
const TOP_UP = 100_000_000n;

/** What cannot be asked for again on a second start: keys are stored as hashes, and wallets are the user's own. */
type Seed = { vendor_key: string; service_id: string; payout_address: string; consumer_wallet: string };

const seedVendor = async (
  api: Api,
  stack: Stack,
  seed: Seed | null,
): Promise<Pick<Vendor, 'apiKey' | 'serviceId'> & { payoutAddress: string }> => {
  if (seed !== null)
    return { apiKey: seed.vendor_key, serviceId: seed.service_id, payoutAddress: seed.payout_address };
  const vendor = await createVendor(api, stack, { email: VENDOR });
  return { ...vendor, payoutAddress: vendor.payout.publicKey.toBase58() };
};

const seedConsumer = async (
  api: Api,
  stack: Stack,
  seed: Seed | null,
): Promise<Pick<Consumer, 'token' | 'wallet' | 'walletId'>> => {
  if (seed === null)
    return createConsumer(api, stack, { email: CONSUMER, balance: TOP_UP, allowance: TOP_UP });
  const wallet = Keypair.fromSecretKey(bs58.decode(seed.consumer_wallet));
  const { access_token: token } = await signIn(api, stack, CONSUMER, 'test');
  const { data } = await must(api<{ data: WalletView[] }>('GET /v1/wallets', { token }), 'wallets');
  const view = data.find(({ address }) => address === wallet.publicKey.toBase58());
  if (view === undefined) throw new Error('the seeded wallet is gone');
  if (BigInt(view.balance) < LEAST) await fund(api, token, view.wallet_id, TOP_UP);
  if (BigInt(view.delegation.allowance) < LEAST)
    await allowSpending(api, token, view.wallet_id, wallet, TOP_UP);
  return { token, wallet, walletId: view.wallet_id };
};

const read = (file: string): Seed | null =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Seed) : null;

/**
 * Seeds a vendor and a consumer in the test environment and makes one payment through the public API, printed so
 * that a reader can follow it and repeat it with curl.
 */
export const transcript = async (
  stack: Stack,
  print: (line: string) => void,
  stateDir: string,
): Promise<void> => {
  const chain: StackEnvironment | undefined = stack.environments.test;
  if (chain === undefined) return;
  const file = path.join(stateDir, 'seed-test.json');
  const seed = read(file);
  const api = createApi(stack.gateway_url);
  const vendor = await seedVendor(api, stack, seed);
  const consumer = await seedConsumer(api, stack, seed);
  writeAtomically(
    file,
    `${JSON.stringify({
      vendor_key: vendor.apiKey,
      service_id: vendor.serviceId,
      payout_address: vendor.payoutAddress,
      consumer_wallet: bs58.encode(consumer.wallet.secretKey),
    } satisfies Seed)}\n`,
    0o600,
  );

  const connection = new Connection(chain.rpc_url, 'confirmed');
  const mint = new PublicKey(chain.usdc_mint);
  const owners = {
    consumer: consumer.wallet.publicKey.toBase58(),
    vendor: vendor.payoutAddress,
    'fee wallet': chain.fee_wallet,
  };
  const balances = async () =>
    Object.fromEntries(
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

  print('\nSeeded in the test environment');
  print(`  vendor           ${VENDOR}   service ${vendor.serviceId}`);
  print(`  vendor key       ${vendor.apiKey}`);
  print(`  consumer         ${CONSUMER}   wallet ${consumer.walletId}`);
  print(`  consumer token   ${consumer.token}`);

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
