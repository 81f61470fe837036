import { type Client, createClient } from '../../../sdk/src/main.ts';
import { testAddress } from '../wallet/test-address.ts';

/** Demo data of the test environment, made by real calls: it looks as real use does. */

const WEATHER = { name: 'Weather (demo)', price: '50000' };
const COMPANIES = { name: 'Company search (demo)', price: '250000' };
const AGENT = { name: 'Research agent (demo)', limits: { per_payment: '100000', daily: '1000000' } };

/** How often the account pays each service, and the agent the cheaper one. */
const PAYMENTS = { weather: 4, companies: 3, agent: 3 };
/** The steps that are counted: two services, an agent, the payments, and one that is refused. */
const STEPS = 3 + PAYMENTS.weather + PAYMENTS.companies + PAYMENTS.agent + 1;

type Sold = { service_id: string; vendor: Client };

/** One call as a buyer makes it and a vendor delivers it. */
const pay = async ({ service_id, vendor }: Sold, payer: Client, isRedeemed = true): Promise<void> => {
  const { quote_token } = await vendor.quote.create({ service_id });
  const { settlement_id, settlement_token } = await payer.settlement.settle({
    quote_token,
    payment_attempt_id: crypto.randomUUID(),
  });
  if (isRedeemed)
    await vendor.settlement.redeem({ settlement_id, settlement_token, redeem_id: crypto.randomUUID() });
};

/**
 * Makes two services, a delegate with limits, ten payments, and one payment that a limit refuses.
 * @param onProgress called with the steps done and all steps
 * @throws ApiError of the first call that fails; what was made stays
 */
export const makeDemoData = async (
  account: Client,
  wallet_id: string,
  onProgress: (done: number, all: number) => void,
): Promise<void> => {
  let done = 0;
  const counted = async <T>(work: Promise<T>): Promise<T> => {
    onProgress(done, STEPS);
    const result = await work;
    done += 1;
    return result;
  };
  const clientOf = (credential: string) => createClient({ baseUrl: location.origin, credential });
  const sell = async (service: typeof WEATHER): Promise<Sold> => {
    const payout_address = await testAddress();
    const made = await account.identity.createService({ ...service, payout_address });
    if (!('api_key' in made)) throw new Error('The answer with the key was lost. Try again.');
    return { service_id: made.service_id, vendor: clientOf(made.api_key) };
  };
  // First, because it may ask for a fresh sign-in and is then repeated.
  const made = await counted(account.identity.createDelegate({ ...AGENT, wallet_id }));
  if (!('api_key' in made)) throw new Error('The answer with the key was lost. Try again.');
  const agent = clientOf(made.api_key);
  const weather = await counted(sell(WEATHER));
  const companies = await counted(sell(COMPANIES));
  for (let count = 0; count < PAYMENTS.weather; count += 1) await counted(pay(weather, account));
  // The last one is paid and not redeemed yet.
  for (let count = 1; count <= PAYMENTS.companies; count += 1)
    await counted(pay(companies, account, count < PAYMENTS.companies));
  for (let count = 0; count < PAYMENTS.agent; count += 1) await counted(pay(weather, agent));
  // More than the agent may pay at once: it is declined, and shown as such.
  await counted(pay(companies, agent).catch(() => undefined));
};
