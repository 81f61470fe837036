import { ComputeBudgetProgram, Keypair, LAMPORTS_PER_SOL, VersionedTransaction } from '@solana/web3.js';
import type { Consumer, Vendor } from '../../../deploy/local/seed/actors.ts';
import { type Api, must } from '../../../deploy/local/seed/api.ts';
import { networkOf } from '../../../deploy/local/stack/networks.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { feeMicro } from '../../../shared/lib/money/fee.ts';
import { type Asked, type Rail, wireTransaction } from '../actors/incoming-buyers.ts';
import { payExternal } from '../actors/outgoing.ts';
import { waitFor } from '../base/wait.ts';
import { chainOf } from '../servers/chain.ts';

/** Payments of one wallet by the rails that need no quote, of a stack that may be started again. */

const PRICE = 1_000_000n;
const WITHIN_MS = 60_000;
/** Payments with one blockhash differ by it. */
let unitPrice = 0;

type Place = { api: () => Api; stack: () => Stack };
/** A payment that can be shown again, and its transaction once it is confirmed. */
export type OtherPayment = { name: string; pay: () => Promise<string> };
type Terms = {
  mint: string;
  fee_payer: string;
  payout_address: string;
  fee: { bps: number; min: string; fee_wallet: string };
};
type Answer = { status?: string; tx_hash?: string | null; transaction?: string; error?: { code: string } };

const confirmed = async (ask: () => Promise<{ status: number; body: Answer }>): Promise<string> => {
  const { body } = await waitFor(
    ask,
    ({ body: { status, tx_hash, error } }) =>
      (status === 'confirmed' && typeof tx_hash === 'string') ||
      (error && error.code !== 'service_unavailable') === true,
    WITHIN_MS,
    100,
  );
  if (typeof body.tx_hash !== 'string') throw new Error(JSON.stringify(body));
  return body.tx_hash;
};

/** The transfers of a price, as the dialect of a rail offers them. */
const legsOf = (rail: Rail, { payout_address: owner, fee }: Terms): Asked['legs'] => {
  if (rail === 'x402') return [{ owner, amount: `${PRICE}` }];
  const split = feeMicro(PRICE, { bps: BigInt(fee.bps), minMicro: BigInt(fee.min) });
  return [
    { owner, amount: `${PRICE - split}` },
    { owner: fee.fee_wallet, amount: `${split}` },
  ];
};

/** A payment of x402 or MPP that the wallet's owner signs for the vendor's offer. */
export const incomingPayment = async (
  { api, stack }: Place,
  { payer, vendor, rail }: { payer: Consumer; vendor: Vendor; rail: Rail },
): Promise<OtherPayment> => {
  const chain = chainOf(stack().environments.test!);
  const path = 'GET /v1/settlements/foreign/terms';
  const terms = await must(api()<Terms>(path, { token: vendor.apiKey }), 'terms');
  const { mint, fee_payer: feePayer, payout_address: owner } = terms;
  // The terms have the vendor's token account created.
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(owner)),
    (account) => account !== null,
  );
  const { blockhash } = await chain.connection.getLatestBlockhash();
  const before = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: ++unitPrice }),
  ];
  const memo = rail === 'mpp' ? crypto.randomUUID() : null;
  const asked = { feePayer, mint, legs: legsOf(rail, terms), memo };
  const transaction = wireTransaction(asked, { payer: payer.wallet, before, blockhash });
  const body = {
    ...{ rail, quote_amount: `${PRICE}`, transaction, redeem_id: crypto.randomUUID() },
    ...(memo !== null && { memo }),
  };
  const ask = () => api()<Answer>('POST /v1/settlements/foreign', { token: vendor.apiKey, body });
  return { name: rail, pay: () => confirmed(ask) };
};

/** An outgoing payment to an address outside, which includes it as its vendor would. */
export const outgoingPayment = async (
  { api, stack }: Place,
  payer: Consumer,
  payTo: string,
): Promise<OtherPayment> => {
  const feePayer = Keypair.generate();
  const { rpc_url, usdc_mint } = stack().environments.test!;
  await chainOf({ rpc_url, usdc_mint }).connection.requestAirdrop(feePayer.publicKey, LAMPORTS_PER_SOL);
  const requirement = {
    ...{ scheme: 'exact', network: networkOf('test').caip2, asset: usdc_mint },
    ...{ amount: `${PRICE}`, payTo, maxTimeoutSeconds: 60 },
    extra: { feePayer: feePayer.publicKey.toBase58() },
  };
  const price = { resource: 'http://127.0.0.1/paid', version: 2 as const, requirement };
  const attemptId = crypto.randomUUID();
  const include = async (transaction: string): Promise<void> => {
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
    signed.sign([feePayer]);
    const { connection } = chainOf(stack().environments.test!);
    // A repeat shows the same bytes, which the chain has then or refuses.
    await connection.sendRawTransaction(signed.serialize(), { skipPreflight: true }).catch(() => {});
  };
  const ask = async () => {
    const answer = await payExternal(api(), payer.token, price, attemptId);
    if (answer.status === 200) await include(answer.body.transaction);
    return answer;
  };
  return { name: 'outgoing', pay: () => confirmed(ask) };
};

/** What became of payments: a line for each, with its transaction or the answer that refused it. */
export const outcomesOf = (payments: readonly OtherPayment[]): Promise<string[]> =>
  Promise.all(
    payments.map(async ({ name, pay }) => {
      const outcome = await pay().catch((error: Error) => error.message);
      return `${name} ${outcome}`;
    }),
  );
