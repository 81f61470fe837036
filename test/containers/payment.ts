import * as ed25519 from '@noble/ed25519';
import { getAssociatedTokenAddressSync } from '@solana/spl-token';
import { Connection, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  type Consumer,
  createConsumer,
  createVendor,
  type Paid,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { type Answer, type Api, createApi, must } from '../../deploy/local/seed/api.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { waitFor } from '../support/base/wait.ts';

/** The addresses of a running installation of the environment `test` over the local chain. */
export type Installation = {
  gateway_url: string;
  mail_url: string;
  rpc_url: string;
  usdc_mint: string;
  fee_wallet: string;
};

/** A vendor and a consumer with a funded wallet, created through the public API. */
type Parties = { api: Api; vendor: Vendor; consumer: Consumer };

const ANSWER_MS = 180_000;

/** Repeats calls that are refused because a service is unavailable: the same ids make it safe. */
const patientApi = (gatewayUrl: string): Api => {
  const api = createApi(gatewayUrl);
  return (call, options) =>
    waitFor(
      () => api(call, options),
      ({ status }) => status !== 503,
      ANSWER_MS,
      200,
    ) as ReturnType<typeof api<never>>;
};

/** Settles a quote and repeats the attempt until the payment is confirmed on chain. */
export const settleUntilPaid = async (
  { api, consumer }: Parties,
  quote: { quote_token: string },
): Promise<Paid> => {
  const attempt = crypto.randomUUID();
  const isPaid = ({ status, body }: Answer<Paid>) => status === 200 && body.tx_hash !== null;
  const settle = () => settleWith(api, consumer.token, quote, attempt);
  return (await waitFor(settle, isPaid, ANSWER_MS, 200)).body;
};

/** Creates a vendor and a consumer who can pay 100 USDC. */
export const createParties = async (installation: Installation): Promise<Parties> => {
  const api = patientApi(installation.gateway_url);
  const vendor = await createVendor(api, installation);
  return { api, vendor, consumer: await createConsumer(api, installation) };
};

/** The chain as this installation's providers show it. */
export const chainOf = ({ rpc_url }: Installation): Connection => new Connection(rpc_url, 'confirmed');

/** USDC of an owner in micro-units, 0 without a token account. */
export const balanceOf = async (installation: Installation, owner: string): Promise<bigint> => {
  const mint = new PublicKey(installation.usdc_mint);
  const account = getAssociatedTokenAddressSync(mint, new PublicKey(owner), true);
  if ((await chainOf(installation).getAccountInfo(account)) === null) return 0n;
  return BigInt((await chainOf(installation).getTokenAccountBalance(account)).value.amount);
};

/**
 * Reads a transaction back from the chain and checks its signatures over its bytes.
 * @throws if the chain does not have it, it failed, or a signature is not of the account's key
 */
export const verifyTransaction = async (installation: Installation, signature: string): Promise<void> => {
  const found = await chainOf(installation).getTransaction(signature, {
    maxSupportedTransactionVersion: 0,
    commitment: 'confirmed',
  });
  if (found === null) throw new Error(`the chain does not have the transaction ${signature}`);
  if (found.meta?.err) throw new Error(`${signature} failed on chain: ${JSON.stringify(found.meta.err)}`);
  const { message, signatures } = found.transaction;
  if (signatures[0] !== signature) throw new Error(`${signature} is not the first signature on chain`);
  const bytes = message.serialize();
  for (const [index, each] of signatures.entries()) {
    const key = message.staticAccountKeys[index]!.toBytes();
    if (!(await ed25519.verifyAsync(bs58.decode(each), bytes, key)))
      throw new Error(`${signature}: the signature ${index} is not of its account's key`);
  }
};

/** What a payment cost, in micro-units of USDC. */
type Payment = Paid & { grossMicro: bigint; feeMicro: bigint };

/**
 * Quotes, settles and redeems through the gateway, and reads the payment back from the chain: the
 * balances of the three accounts, and the transaction with its signatures.
 * @throws if an answer is not a success, or the chain shows something else
 */
export const payAndReadBack = async (installation: Installation, parties: Parties): Promise<Payment> => {
  const { api, vendor, consumer } = parties;
  const owners = [
    consumer.wallet.publicKey.toBase58(),
    vendor.payout.publicKey.toBase58(),
    installation.fee_wallet,
  ];
  const balances = () => Promise.all(owners.map((owner) => balanceOf(installation, owner)));
  const before = await balances();
  const quote = await quoteOf(api, vendor);
  const [grossMicro, feeMicro] = [BigInt(quote.quote_amount), BigInt(quote.fee_amount)];
  const paid = await settleUntilPaid(parties, quote);
  await must(
    api(`POST /v1/settlements/${paid.settlement_id}/redeem`, {
      token: vendor.apiKey,
      body: { settlement_token: paid.settlement_token, redeem_id: crypto.randomUUID() },
    }),
    'redeem',
  );
  await verifyTransaction(installation, paid.tx_hash);
  const after = await balances();
  const changes = after.map((balance, index) => balance - before[index]!);
  const expected = [-grossMicro, grossMicro - feeMicro, feeMicro];
  if (changes.join() !== expected.join())
    throw new Error(`the chain shows changes of ${changes.join(', ')}, expected ${expected.join(', ')}`);
  return { ...paid, grossMicro, feeMicro };
};

if (import.meta.main) {
  const installation = JSON.parse(process.argv[2]!) as Installation;
  const paid = await payAndReadBack(installation, await createParties(installation));
  console.log(
    `paid ${displayUsdc(paid.grossMicro)} and redeemed; on chain: transaction ${paid.tx_hash}, ` +
      `vendor +${displayUsdc(paid.grossMicro - paid.feeMicro)}, fee wallet +${displayUsdc(paid.feeMicro)}`,
  );
}
