import { Keypair } from '@solana/web3.js';
import type { Stack } from '../stack/stack-file.ts';
import { type Api, must } from './api.ts';
import { type SignIn, signIn } from './sign-in.ts';
import { allowSpending, fund, linkWallet, type WalletView } from './wallet.ts';

export type Vendor = { signIn: SignIn; serviceId: string; apiKey: string; payout: Keypair };
export type Consumer = { signIn: SignIn; token: string; wallet: Keypair; walletId: string; view: WalletView };

const uniqueAddress = (who: string) => `${who}-${crypto.randomUUID().slice(0, 8)}@example.com`;

/** A vendor with one service. */
export const createVendor = async (
  api: Api,
  stack: Pick<Stack, 'mail_url'>,
  {
    email = uniqueAddress('vendor'),
    environment = 'test',
    price = 2_500_000n,
    payout = Keypair.generate(),
    name = 'Weather API',
  }: { email?: string; environment?: string; price?: bigint; payout?: Keypair; name?: string } = {},
): Promise<Vendor> => {
  const session = await signIn(api, stack, email, environment);
  const service = await must(
    api<{ service_id: string; api_key: string }>('POST /v1/services', {
      token: session.access_token,
      body: { name, price: price.toString(), payout_address: payout.publicKey.toBase58() },
    }),
    'create service',
  );
  return { signIn: session, serviceId: service.service_id, apiKey: service.api_key, payout };
};

/**
 * A consumer with a linked, funded wallet and an approved allowance for the platform. One sign-in
 * pays for as long as a test runs, so its limits are raised to the allowance.
 */
export const createConsumer = async (
  api: Api,
  stack: Pick<Stack, 'mail_url'>,
  {
    email = uniqueAddress('consumer'),
    environment = 'test',
    wallet = Keypair.generate(),
    balance = 100_000_000n,
    allowance = 100_000_000n,
  }: { email?: string; environment?: string; wallet?: Keypair; balance?: bigint; allowance?: bigint } = {},
): Promise<Consumer> => {
  const session = await signIn(api, stack, email, environment);
  const token = session.access_token;
  const linked = await linkWallet(api, token, session.account.account_id, wallet);
  if (balance > 0n) await fund(api, token, linked.wallet_id, balance);
  if (allowance > 0n) {
    const limit = allowance.toString();
    const body = { per_payment: limit, daily: limit };
    await must(api('PATCH /v1/accounts/me/limits', { token, body }), 'raise limits');
  }
  const view = allowance > 0n ? await allowSpending(api, token, linked.wallet_id, wallet, allowance) : linked;
  return { signIn: session, token, wallet, walletId: linked.wallet_id, view };
};

export type Delegate = {
  delegate_id: string;
  api_key: string;
  usage: Record<'daily' | 'monthly' | 'total', { spent: string; held: string; remaining: string | null }>;
};

/** A delegate of the owner's wallet with its key; amounts of the limits in micro-units. */
export const createDelegate = (
  api: Api,
  owner: Pick<Consumer, 'token' | 'walletId'>,
  limits: { per_payment?: string; daily?: string; monthly?: string; total?: string },
  more: object = {},
): Promise<Delegate> =>
  must(
    api<Delegate>('POST /v1/delegates', {
      token: owner.token,
      body: { name: 'Robot', wallet_id: owner.walletId, limits, ...more },
    }),
    'create delegate',
  );

export type Quote = {
  quote_id: string;
  quote_token: string;
  quote_amount: string;
  fee_amount: string;
  expires_at: string;
};
export type Paid = { settlement_id: string; settlement_token: string; status: string; tx_hash: string };

/** The vendor's quote. */
export const quoteOf = (
  api: Api,
  vendor: Pick<Vendor, 'apiKey' | 'serviceId'>,
  body: object = {},
): Promise<Quote> =>
  must(
    api<Quote>('POST /v1/quote', { token: vendor.apiKey, body: { service_id: vendor.serviceId, ...body } }),
    'quote',
  );

/** Settles a quote, whatever the answer. */
export const settleWith = (
  api: Api,
  token: string,
  quote: { quote_token: string },
  attemptId: string = crypto.randomUUID(),
) =>
  api<Paid & { error?: { code: string; message: string; money_moved?: string } }>('POST /v1/settle', {
    token,
    body: { quote_token: quote.quote_token, payment_attempt_id: attemptId },
  });
