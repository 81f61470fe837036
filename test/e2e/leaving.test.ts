import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { signIn } from '../../deploy/local/seed/sign-in.ts';
import { linkWallet, walletProof } from '../../deploy/local/seed/wallet.ts';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { verifyReceipt } from '../../sdk/src/main.ts';
import { isBroken } from '../../tools/reconcile/compare.ts';
import { placeOf, reconcile } from '../../tools/reconcile.ts';
import { createSnapshot } from '../support/actors/tenants.ts';
import { waitFor, waitUntil } from '../support/base/wait.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * An account that has paid and was paid leaves: it closes, its counterparts keep what they have,
 * and after the grace nothing in the database leads to the person (docs/retention.md).
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const admin = connectDatabases(stack.postgres_urls, { max: 2 });

const mark = crypto.randomUUID().slice(0, 8);
/** Everything that the person has entered. */
const PERSONAL = {
  email: `ada-${mark}@example.com`,
  display_name: `Ada Leaving ${mark}`,
  service: `Tide tables ${mark}`,
  delegate: `Tide robot ${mark}`,
  endpoint: `http://127.0.0.1:9/${mark}/hook`,
  wallet: `Tide wallet ${mark}`,
  backup: `backup-${mark}`,
};

let ada: Consumer;
let adasShop: Vendor;
let robot: Delegate;
let victor: Vendor;
let eve: Consumer;
let snapshot: Awaited<ReturnType<typeof createSnapshot>>;
beforeAll(async () => {
  const { email } = PERSONAL;
  [victor, eve, snapshot] = await Promise.all([
    createVendor(api, stack),
    createConsumer(api, stack),
    createSnapshot(stack.postgres_urls),
  ]);
  ada = await createConsumer(api, stack, { email });
  adasShop = await createVendor(api, stack, { email, name: PERSONAL.service });
  robot = await createDelegate(api, ada, {}, { name: PERSONAL.delegate });
  const of = (body: object) => ({ token: ada.token, body });
  await must(api('PATCH /v1/accounts/me/settings', of({ display_name: PERSONAL.display_name })), 'settings');
  await must(api('POST /v1/webhook-endpoints', of({ url: PERSONAL.endpoint })), 'endpoint');
  // A wallet as one that was created here.
  const proof = await walletProof(Keypair.generate(), ada.signIn.account.account_id);
  const { wallet_id } = await must(
    api<{ wallet_id: string }>('POST /v1/wallets', of({ ...proof, label: PERSONAL.wallet })),
    'second wallet',
  );
  await provision(wallet_id);
});
afterAll(() => Promise.all([admin.end(), snapshot?.stop()]));

type Closing = {
  erase_at?: string;
  error?: { code: string; message: string; details?: { path: string }[] };
};
const close = (token: string) => api<Closing>('POST /v1/accounts/me/close', { token });
const statusOf = async (route: `${'GET' | 'POST'} /${string}`, token: string, body?: object) =>
  (await api(route, { token, ...(body && { body }) })).status;

/** Makes a linked wallet one that was created here, whose backup only we may have. */
const provision = (walletId: string) =>
  admin.query(
    `update wallet.wallets set kind = 'provisioned', token_account_status = 'finalized', backup = $2 where wallet_id = $1`,
    [walletId, PERSONAL.backup],
  );

/** Every table of every service, with how many of its rows hold one of these texts. */
const tablesWith = async (texts: readonly string[]): Promise<string[]> => {
  const rows = await admin.everywhere<{ name: string }>(`
    select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
    where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE' order by 1`);
  expect(rows.length).toBeGreaterThan(50);
  const found: string[] = [];
  for (const { name } of rows) {
    const { rowCount } = await admin.query(
      `select from ${name} as t where exists (
        select from unnest($1::text[]) as needle where position(needle in to_jsonb(t)::text) > 0) limit 1`,
      [texts],
    );
    if (rowCount === 1) found.push(name);
  }
  return found.sort((one, other) => one.localeCompare(other));
};
/** The records that stay: payments, quotes, transactions and transfers of the account. */
const ledgerOf = async (accountId: string) =>
  Object.fromEntries(
    Object.entries(await snapshot.of(accountId)).filter(([table]) =>
      /^(settlement\.settlements|settlement\.fee_accounts|quote\.quotes|wallet\.transactions|funding\.dev_funds)$/.test(
        table,
      ),
    ),
  );

test('an account with payments on both sides closes when nothing is open, and is erased after the grace', async () => {
  const accountId = ada.signIn.account.account_id;
  const bought = await must(settleWith(api, robot.api_key, await quoteOf(api, victor)), 'Ada buys');
  const sold = await must(settleWith(api, eve.token, await quoteOf(api, adasShop)), 'Eve buys of Ada');

  // The sale is not redeemed yet.
  const refused = await close(ada.token);
  expect([refused.status, refused.body.error]).toMatchObject([409, { code: 'conflict' }]);
  expect(refused.body.error!.details!.map(({ path }) => path)).toContain('sales');
  for (const key of [robot.api_key, adasShop.apiKey])
    expect(await statusOf('POST /v1/accounts/me/close', key)).toBe(403);
  expect(await statusOf('GET /v1/accounts/me', ada.token)).toBe(200);

  const redeem = `POST /v1/settlements/${sold.settlement_id}/redeem` as const;
  const { settlement_token } = sold;
  await must(api(redeem, { token: adasShop.apiKey, body: { settlement_token } }), 'redeem');
  const closed = await waitFor(
    () => close(ada.token),
    ({ status }) => status !== 409,
    60_000,
    3000,
  );
  expect([closed.status, closed.body]).toMatchObject([200, { status: 'closed' }]);

  // Nothing of it works any more, on any gateway.
  const quote = { service_id: adasShop.serviceId };
  const others = [ada.token, adasShop.signIn.access_token].map((token) =>
    statusOf('GET /v1/accounts/me', token),
  );
  expect(await Promise.all(others)).toEqual([401, 401]);
  expect(await statusOf('POST /v1/quote', adasShop.apiKey, quote)).toBe(401);
  expect((await settleWith(api, robot.api_key, await quoteOf(api, victor))).status).toBe(401);
  const { refresh_token } = ada.signIn;
  expect((await api('POST /v1/auth/refresh', { body: { refresh_token } })).status).toBe(401);
  const count = async (table: string) =>
    (await admin.query(`select from ${table} where account_id = $1`, [accountId])).rowCount;
  await waitUntil(async () => (await count('webhook.endpoints')) === 0);
  // The wallet that was created here stays with its backup until the erasure.
  await waitUntil(async () => (await count('wallet.wallets')) === 1);

  // The counterparts keep theirs.
  const receipt = async (token: string, { settlement_id }: { settlement_id: string }) =>
    must(api<{ receipt: string }>(`GET /v1/settlements/${settlement_id}/receipt`, { token }), 'receipt');
  const keepTheirs = async () => {
    for (const [token, paid] of [
      [eve.token, sold],
      [victor.apiKey, bought],
    ] as const) {
      const text = (await receipt(token, paid)).receipt;
      const claims = await verifyReceipt(text, { baseUrl: stack.gateway_url, environment: 'test' });
      expect(claims.settlement_id).toBe(paid.settlement_id);
      expect(await statusOf(`GET /v1/settlements/${paid.settlement_id}`, token)).toBe(200);
    }
  };
  await keepTheirs();

  // The grace passes. Mails that collect changes went out with the closure.
  await waitUntil(async () => !(await tablesWith([PERSONAL.email])).includes('identity.mails'));
  expect(await tablesWith([PERSONAL.email, PERSONAL.display_name])).toEqual(['identity.accounts']);
  expect(await tablesWith([PERSONAL.service])).toContain('identity.services');
  expect(await tablesWith([PERSONAL.delegate])).toContain('identity.delegates');
  expect(await tablesWith([PERSONAL.endpoint])).toEqual([]);
  for (const own of [PERSONAL.wallet, PERSONAL.backup])
    expect(await tablesWith([own])).toEqual(['wallet.wallets']);
  const ledger = await ledgerOf(accountId);
  expect(ledger['settlement.settlements']).not.toBe('nothing');
  await admin.query('update identity.accounts set erase_at = app_now() where account_id = $1', [accountId]);
  await waitFor(
    () => tablesWith(Object.values(PERSONAL)),
    // What was sent is kept for seven days, and the grace is at least as long.
    (tables) => tables.every((name) => name.endsWith('.sent_events')),
    60_000,
    1000,
  );
  expect(await ledgerOf(accountId)).toEqual(ledger);
  await keepTheirs();
  const { reports } = await reconcile(placeOf(stack, 'test'));
  const own = reports.find(({ account }) => account === ada.view.token_account)!;
  expect([own.known, isBroken(own)]).toEqual([expect.anything(), false]);

  // The person may come back, with the same address and the same wallet, as somebody new.
  const again = await signIn(api, stack, PERSONAL.email, 'test');
  expect(again.account.account_id).not.toBe(accountId);
  const linked = await linkWallet(api, again.access_token, again.account.account_id, ada.wallet);
  expect(linked.address).toBe(ada.wallet.publicKey.toBase58());
  const list = await api<{ data: unknown[] }>('GET /v1/settlements', { token: again.access_token });
  expect(list.body.data).toEqual([]);
}, 240_000);

test('an account cannot close while anything is open, and each part is named', async () => {
  const [owner, shop] = [await createConsumer(api, stack), await createVendor(api, stack)];
  const email = owner.signIn.account.email;
  const ownShop = await createVendor(api, stack, { email });
  const { token, walletId } = owner;
  const accountId = owner.signIn.account.account_id;
  const open = async (): Promise<string[]> => {
    const { status, body } = await close(token);
    return status === 409 ? body.error!.details!.map(({ path }) => path) : [`answered ${status}`];
  };
  const opens = (part: string) => waitFor(open, (parts) => parts.includes(part), 20_000, 2000);

  await quoteOf(api, ownShop);
  await opens('quotes');
  const destination = Keypair.generate().publicKey.toBase58();
  const withdrawal = { wallet_id: walletId, amount: '1000000', destination_address: destination };
  await must(api('POST /v1/withdrawals', { token, body: withdrawal }), 'withdrawal');
  const asking = await createDelegate(api, owner, {}, { approval_above: '1' });
  expect((await settleWith(api, asking.api_key, await quoteOf(api, shop))).status).toBe(403);
  const sold = await must(settleWith(api, eve.token, await quoteOf(api, ownShop)), 'a sale');
  const { settlement_token } = sold;
  const redeem = `POST /v1/settlements/${sold.settlement_id}/redeem` as const;
  await must(api(redeem, { token: ownShop.apiKey, body: { settlement_token } }), 'redeem');
  const refund = { settlement_id: sold.settlement_id, amount: '1000000' };
  await must(api('POST /v1/refunds', { token: ownShop.apiKey, body: refund }), 'refund');
  const deposit = { wallet_id: walletId, provider: 'moonpay', fiat_currency: 'USD', fiat_amount: '50.00' };
  await must(api('POST /v1/deposits/fiat', { token, body: deposit }), 'deposit');
  await admin.query('insert into settlement.fee_accounts (account_id, accrued) values ($1, 2000)', [
    accountId,
  ]);
  await provision(walletId);
  const all = ['approvals', 'deposits', 'fees', 'quotes', 'refunds', 'wallets', 'withdrawals'];
  await waitFor(open, (parts) => all.every((part) => parts.includes(part)), 30_000, 2500);
  expect((await api('GET /v1/accounts/me', { token })).status).toBe(200);
});
