import { type Consumer, createConsumer, createVendor, type Vendor } from '../../deploy/local/seed/actors.ts';
import { type Api, must } from '../../deploy/local/seed/api.ts';
import type { SignIn } from '../../deploy/local/seed/sign-in.ts';
import { fund } from '../../deploy/local/seed/wallet.ts';
import type { Stack } from '../../deploy/local/stack/stack-file.ts';
import type { Call } from '../load/job.ts';
import type { Load } from './load.ts';

/**
 * Gross amount of every measured payment. After the minimum fee half of it remains for the vendor.
 */
export const PRICE_MICRO = 20_000n;
/** The maximum of one dev/fund call: half a million payments. */
const BUDGET_MICRO = 10_000_000_000n;

export type Payer = { consumer: Consumer; token: () => Promise<string> };

/** What the clients of a benchmark need of an installation. */
type Target = { api: Api; stack: Pick<Stack, 'gateway_url' | 'mail_url'> };

export const createBenchVendor = ({ api, stack }: Target): Promise<Vendor> =>
  createVendor(api, stack, { price: PRICE_MICRO });

/**
 * Consumers with money who have approved an allowance for the platform. An access token is valid
 * for minutes and a run may take longer, so each is renewed.
 */
export const createPayers = async (bench: Target, count: number): Promise<Payer[]> => {
  const payers: Payer[] = [];
  // A few at a time, because each waits for a mail and three transactions.
  while (payers.length < count) {
    const some = Math.min(16, count - payers.length);
    payers.push(...(await Promise.all(Array.from({ length: some }, () => createPayer(bench)))));
  }
  return payers;
};

const createPayer = async ({ api, stack }: Target): Promise<Payer> => {
  const consumer = await createConsumer(api, stack, { balance: 0n, allowance: BUDGET_MICRO });
  await fund(api, consumer.token, consumer.walletId, BUDGET_MICRO);
  return { consumer, token: freshToken(api, consumer.signIn) };
};

/** The access token of a sign-in, renewed when it would expire during another round. */
export const freshToken = (api: Target['api'], first: SignIn): (() => Promise<string>) => {
  let signIn = first;
  const expiresAt = (token: string): number => {
    const claims = Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8');
    return (JSON.parse(claims) as { exp: number }).exp * 1000;
  };
  return async () => {
    // Longer than any round.
    if (expiresAt(signIn.access_token) - Date.now() < 180_000) {
      const body = { refresh_token: signIn.refresh_token };
      signIn = { ...signIn, ...(await must(api<SignIn>('POST /v1/auth/refresh', { body }), 'refresh')) };
    }
    return signIn.access_token;
  };
};

/** The call that creates a quote. */
export const quoteCall = (vendor: Pick<Vendor, 'apiKey' | 'serviceId'>): Call => ({
  method: 'POST',
  path: '/v1/quote',
  token: vendor.apiKey,
  body: JSON.stringify({ service_id: vendor.serviceId }),
});

/** Calls that settle the same number of new quotes, with the payers in turn. */
export const settleCalls = async (
  bench: Target,
  load: Load,
  { vendor, payers, count }: { vendor: Vendor; payers: readonly Payer[]; count: number },
): Promise<Call[]> => {
  const { bodies } = await load.run({
    kind: 'calls',
    origin: bench.stack.gateway_url,
    calls: Array.from({ length: count }, () => quoteCall(vendor)),
    concurrency: 16,
    keepBodies: true,
  });
  const tokens = await Promise.all(payers.map(({ token }) => token()));
  return bodies!.map((text, index) => {
    const { quote_token } = JSON.parse(text) as { quote_token: string };
    return {
      method: 'POST',
      path: '/v1/settle',
      token: tokens[index % tokens.length]!,
      body: JSON.stringify({ quote_token, payment_attempt_id: crypto.randomUUID() }),
    };
  });
};
