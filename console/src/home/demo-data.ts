import { type Client, createClient } from '../../../sdk/src/main.ts';
import { DEMO_SHOP } from '../payments/own-quotes.ts';
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
  const { quote_token } = await vendor.quote.create({ service_id, scope: { resource: `${DEMO_SHOP}/data` } });
  const { settlement_id, settlement_token } = await payer.settlement.settle({
    quote_token,
    payment_attempt_id: crypto.randomUUID(),
  });
  if (isRedeemed)
    await vendor.settlement.redeem({ settlement_id, settlement_token, redeem_id: crypto.randomUUID() });
};

/** The key in an answer that shows it once. */
const keyOf = (answer: object): string => {
  if ('api_key' in answer && typeof answer.api_key === 'string') return answer.api_key;
  throw new Error('The answer with the key was lost. Try again.');
};

/**
 * The services of the account, and the address that the demo services are paid to. The platform
 * pays for few token accounts, so an address that is in use already is taken: of a demo service, or
 * of another service whose address is no wallet of the account, because a wallet cannot pay itself.
 */
const findEarlier = async (account: Client) => {
  const [{ data: services }, { data: wallets }] = await Promise.all([
    account.identity.listServices({ limit: '100' }),
    account.wallet.list({ limit: '100' }),
  ]);
  const own = new Set(wallets.map(({ address }) => address));
  const isDemo = ({ name }: { name: string }) => name === WEATHER.name || name === COMPANIES.name;
  const payable = services.filter((service) => !own.has(service.payout_address));
  // The oldest, because the platform has paid for the account of the first address.
  const earlier = payable.findLast(isDemo) ?? payable.at(-1);
  return { services, payout_address: earlier?.payout_address ?? (await testAddress()) };
};

const clientOf = (credential: string) => createClient({ baseUrl: location.origin, credential });

type Earlier = Awaited<ReturnType<typeof findEarlier>>;

/** A demo service with a key: that of an earlier try, or a new one. */
const makeService = async (
  account: Client,
  service: typeof WEATHER,
  { services, payout_address }: Earlier,
): Promise<Sold> => {
  const earlier = services.find(
    (each) => each.name === service.name && each.payout_address === payout_address,
  );
  if (earlier === undefined) {
    const created = await account.identity.createService({ ...service, payout_address });
    return { service_id: created.service_id, vendor: clientOf(keyOf(created)) };
  }
  const { service_id } = earlier;
  return { service_id, vendor: clientOf(keyOf(await account.identity.rotateServiceKey({ service_id }))) };
};

/** Pays one call of a demo service, which is created first if there is none. */
export const payDemo = async (account: Client): Promise<void> =>
  pay(await makeService(account, WEATHER, await findEarlier(account)), account);

/** The agent with a key: that of an earlier try, or a new one. */
const makeAgent = async (account: Client, wallet_id: string): Promise<object> => {
  const { data } = await account.identity.listDelegates({ limit: '100' });
  const earlier = data.find(
    (each) => each.name === AGENT.name && each.wallet_id === wallet_id && each.status === 'active',
  );
  if (earlier === undefined) return account.identity.createDelegate({ ...AGENT, wallet_id });
  return account.identity.rotateDelegateKey({ delegate_id: earlier.delegate_id });
};

/**
 * Makes two services, a delegate with limits, ten payments, and one payment that a limit refuses.
 * @param onProgress called with the steps done and all steps
 * What an earlier try has made is used again.
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
  const known = await findEarlier(account);
  // First, because it may ask for a fresh sign-in and is then repeated.
  const agent = clientOf(keyOf(await counted(makeAgent(account, wallet_id))));
  const weather = await counted(makeService(account, WEATHER, known));
  const companies = await counted(makeService(account, COMPANIES, known));
  for (let count = 0; count < PAYMENTS.weather; count += 1) await counted(pay(weather, account));
  // The last one is paid and not redeemed yet.
  for (let count = 1; count <= PAYMENTS.companies; count += 1)
    await counted(pay(companies, account, count < PAYMENTS.companies));
  for (let count = 0; count < PAYMENTS.agent; count += 1) await counted(pay(weather, agent));
  // More than the agent may pay at once: it is declined, and shown as such.
  await counted(pay(companies, agent).catch(() => undefined));
};
