import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ServiceError } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import { connectPool, type Pool, sql } from '../../../shared/db/pool.ts';
import { readsOf } from '../../../shared/db/reads.ts';
import type { OutboxRow } from '../../../shared/events/outbox.ts';
import { withClient } from '../../../shared/lib/call-client.ts';
import { privateKeyFromSeed } from '../../../shared/lib/chain/ed25519.ts';
import { newId, newServiceId } from '../../../shared/lib/id.ts';
import { storedClaims, unverifiedClaims } from '../../../shared/lib/tokens/compact-token.ts';
import { createTestDatabase } from '../../../test/support/servers/database.ts';
import type { TestDatabase } from '../../../test/support/servers/database-handle.ts';
import { findQuoteRecords } from '../operator/records.ts';
import type { Peers } from '../peers.ts';
import { applyTransitions } from '../quotes/apply-transitions.ts';
import { create } from '../quotes/create.ts';
import type { SettlementState } from '../quotes/model/status.ts';
import { querySettlement } from '../quotes/query-settlement.ts';
import { createPaymentLink } from './create-payment-link.ts';
import { deactivatePaymentLink } from './deactivate-payment-link.ts';
import { describePhonePayment } from './describe-phone-payment.ts';
import { getPaymentLink } from './get-payment-link.ts';
import { listPaymentLinks } from './list-payment-links.ts';
import { openPaymentLink } from './open-payment-link.ts';
import { redeemPayments } from './redeem-payments.ts';
import { requestPhonePayment } from './request-phone-payment.ts';
import { findOpenedLink } from './store.ts';

const PAYOUT = '4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T';
let database: TestDatabase;
let pool: Pool;
const account_id = newId('acct');
let service_id: string;
let status: 'active' | 'closing';
let domain: NonNullable<Awaited<ReturnType<Peers['findService']>>>['domain'];
let reservation: 'exists' | 'granted' | 'refused';
const created: object[] = [];
const published: OutboxRow[] = [];
const redeemed: string[] = [];
const asked: { quote_token: string; asked_from: string | null }[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  pool = await connectPool(database.url('quote'), { max: 4 });
});
afterAll(async () => {
  await pool?.end();
  await database?.drop();
});
beforeEach(() => {
  service_id = newServiceId();
  status = 'active';
  domain = null;
  reservation = 'exists';
  created.length = 0;
  published.length = 0;
  redeemed.length = 0;
  asked.length = 0;
});

const deps = () => ({
  pool,
  reads: readsOf(pool),
  clock: Date.now,
  relay: { dispatch: (rows: readonly OutboxRow[]) => void published.push(...rows) },
  environment: 'test' as const,
  mint: PAYOUT,
  fee: { bps: 50n, minMicro: 10_000n },
  signingKey: { kid: 'test.quote.1', key: privateKeyFromSeed(Buffer.alloc(32, 7)) },
  cursorKeys: [Buffer.alloc(32, 1)],
  publicUrl: 'https://api.example.com',
  findService: async (id: string) => ({
    ...{ service_id: id, account_id, name: 'Weather', price: '2500000', payout_address: PAYOUT },
    ...{ redeem_window_seconds: 900, status, next_payout: null, key_grace_hours: 24 },
    domain,
    created_at: new Date().toISOString(),
  }),
  reserveTokenAccount: async () => ({ status: reservation, retry_after_seconds: null }),
  createPayoutAccount: async (account: { account_id: string; owner: string }) => {
    created.push(account);
  },
  listByQuotes: async () => [],
  payLinkByPhone: async (input: (typeof asked)[number]) => {
    asked.push(input);
    return { transaction: 'AQ==' };
  },
  redeemLinkPayment: async ({ settlement_id }: { settlement_id: string }) => {
    redeemed.push(settlement_id);
    return { done: true };
  },
});
type Caller = PrincipalOf<readonly ['service_key', 'jwt']>;
const vendor = (): Caller => ({ kind: 'service_key', key_id: 'k', account_id, service_id });
const stranger = (): Caller => ({ ...vendor(), account_id: newId('acct') });
const make = (more: { single_use?: boolean; success_url?: string; quote_amount?: string } = {}) =>
  createPaymentLink(deps())({ service_id, title: 'Tour', ...more }, vendor(), undefined);
const open = async ({ payment_link_id }: { payment_link_id: string }) =>
  storedClaims(
    (await openPaymentLink(deps())({ payment_link_id, environment: 'test' }, { kind: 'none' })).quote_token,
  );
const show = ({ payment_link_id }: { payment_link_id: string }) =>
  getPaymentLink(deps())({ payment_link_id }, vendor());
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );
const settle = (quote_id: string, event: SettlementState, settlement_id = newId('stl')) =>
  applyTransitions(deps())([{ quote_id, settlement_id, event }]).then(() => settlement_id);
const quotesOf = async ({ payment_link_id }: { payment_link_id: string }) =>
  (await pool.any(sql.unsafe`select * from quotes where payment_link_id = ${payment_link_id}`)).length;

test('a quote names the domain of its vendor while that is proven, and not before or after', async () => {
  const link = await make();
  expect(await open(link)).not.toHaveProperty('service_domain');
  const claimed = {
    ...{ name: 'xn--mnchen-3ya.de', display_name: 'münchen.de', problem: null, checked_at: null },
    record: { type: 'TXT' as const, name: '_quittance.xn--mnchen-3ya.de', value: 'quittance-service=x' },
  };
  domain = { ...claimed, status: 'unproven', verified_at: null };
  expect(await open(link)).not.toHaveProperty('service_domain');
  domain = { ...claimed, status: 'verified', verified_at: new Date().toISOString() };
  const { quote_token } = await openPaymentLink(deps())(
    { payment_link_id: link.payment_link_id, environment: 'test' },
    { kind: 'none' },
  );
  expect(storedClaims(quote_token).service_domain).toBe('münchen.de');
  // Every service that reads the token knows the claim.
  expect(unverifiedClaims('quote', quote_token)).toMatchObject({ service_domain: 'münchen.de' });
  domain = null;
  expect(await open(link)).not.toHaveProperty('service_domain');
});

test('a link is made, listed and shown to its vendor, with the price of the service by default', async () => {
  const link = await make({ success_url: 'https://shop.example/thanks' });
  expect(link).toEqual({
    payment_link_id: expect.stringMatching(/^pl_/),
    service_id,
    url: `https://api.example.com/pay/test/${link.payment_link_id}`,
    title: 'Tour',
    quote_amount: '2500000',
    single_use: false,
    success_url: 'https://shop.example/thanks',
    status: 'active',
    payments: 0,
    created_at: expect.any(String),
    deactivated_at: null,
  });
  expect(await show(link)).toEqual(link);
  const list = listPaymentLinks(deps());
  expect((await list({}, vendor())).data).toEqual([link]);
  expect((await list({}, stranger())).data).toEqual([]);
  const asStranger = getPaymentLink(deps())({ payment_link_id: link.payment_link_id }, stranger());
  expect(await codeOf(asStranger)).toBe('not_found');
  expect(await codeOf(make({ quote_amount: '10000' }))).toBe('validation_error');
  expect(await codeOf(createPaymentLink(deps())({ service_id, title: 'T' }, stranger(), undefined))).toBe(
    'not_found',
  );
});

test('each opening signs a quote that names link, title, address and memo', async () => {
  const link = await make({ success_url: 'https://shop.example/thanks' });
  const [one, other] = [await open(link), await open(link)];
  expect(one.quote_id).not.toBe(other.quote_id);
  expect(one).toMatchObject({ service_id, service_name: 'Weather', quote_amount: '2500000' });
  expect(one.scope).toEqual({
    resource: link.url,
    payment_link: {
      payment_link_id: link.payment_link_id,
      title: 'Tour',
      success_url: 'https://shop.example/thanks',
      single_use: false,
      memo: `2.50 USDC to Weather (${one.quote_id})`,
    },
  });
  expect(await codeOf(open({ payment_link_id: newId('pl') }))).toBe('not_found');
});

test('making a link creates the token account that its buyers pay, and so does opening one', async () => {
  const link = await make();
  await open(link);
  expect(created).toEqual([]);
  reservation = 'granted';
  await make();
  expect(created).toEqual([{ account_id, owner: PAYOUT }]);
  await open(link);
  expect(created).toHaveLength(2);
});

test('an address that cannot be paid is refused to its vendor with the way out, and to a buyer without', async () => {
  const link = await make();
  reservation = 'refused';
  await expect(make()).rejects.toThrow('send any USDC to the address from a wallet');
  const phone = {
    ...{ payment_link_id: link.payment_link_id, environment: 'test' as const },
    account: PAYOUT,
  };
  const scan = () => requestPhonePayment(deps())({ ...phone, handle: 'A'.repeat(43) }, { kind: 'none' });
  for (const ask of [() => open(link), scan])
    await expect(ask()).rejects.toThrow('this vendor cannot be paid at the moment; ask the vendor');
});

test('no other quote can claim to be of a link', async () => {
  const scope = { payment_link: { memo: 'x' } };
  const forged = create(deps())({ service_id, scope }, { ...vendor(), service_id } as never, undefined);
  expect(await codeOf(forged)).toBe('validation_error');
});

test('an opening counts no payments of a link for many, whatever their number', async () => {
  const [many, single] = [await make(), await make({ single_use: true })];
  const scans = sql.type(z.object({ scans: z.bigint() }))`
    select (seq_scan + coalesce(idx_scan, 0))::bigint as scans from pg_stat_xact_user_tables where relname = 'quotes'`;
  /** How often an opening reads the table of quotes. */
  const readsOf = ({ payment_link_id }: { payment_link_id: string }) =>
    pool.transaction(async (tx) => {
      const before = await tx.oneFirst(scans);
      await findOpenedLink(tx, payment_link_id);
      return (await tx.oneFirst(scans)) - before;
    });
  expect(await readsOf(many)).toBe(0n);
  expect(await readsOf(single)).toBe(1n);
});

describe('a link for one payment', () => {
  test('has one quote, signed anew, until it is paid', async () => {
    const link = await make({ single_use: true });
    const [one, other] = await Promise.all([open(link), open(link)]);
    expect(one.quote_id).toBe(other.quote_id);
    await settle(one.quote_id, 'accepted');
    expect(await codeOf(open(link))).toBe('quote_already_settled');
  });

  test('can be paid again after a payment that failed, and not after one that succeeded', async () => {
    const link = await make({ single_use: true });
    const { quote_id } = await open(link);
    await settle(quote_id, 'failed');
    expect((await open(link)).quote_id).toBe(quote_id);
    await settle(quote_id, 'issued');
    expect(await codeOf(open(link))).toBe('quote_already_settled');
    expect(await show(link)).toMatchObject({ status: 'paid', payments: 1 });
  });
});

test('a confirmed payment is published once and redeemed once', async () => {
  const link = await make();
  const { quote_id } = await open(link);
  const settlementId = await settle(quote_id, 'issued');
  await settle(quote_id, 'issued', settlementId);
  expect(published.map(({ subject, payload }) => [subject, payload])).toEqual([
    [
      'evt.quote.linkPaid',
      {
        ...{ payment_link_id: link.payment_link_id, title: 'Tour', settlement_id: settlementId },
        ...{ quote_id, account_id, service_id, quote_amount: '2500000' },
      },
    ],
  ]);
  expect(await redeemPayments(deps())()).toBe(true);
  await redeemPayments(deps())();
  expect(redeemed.filter((each) => each === settlementId)).toHaveLength(1);
  expect(await show(link)).toMatchObject({ status: 'active', payments: 1 });
});

test('an operator finds a link with its payments, and of a payment no other buyers', async () => {
  const link = await make();
  const [paid, unpaid] = [await open(link), await open(link)];
  const settlementId = await settle(paid.quote_id, 'issued');
  const find = (id: string) => findQuoteRecords(pool)({ ids: [id], attempts: [] });
  const found = await find(link.payment_link_id);
  expect(found.related.ids).toEqual([paid.quote_id]);
  expect(found.entries).toMatchObject([
    { what: 'payment link created', details: { title: 'Tour', amount: '2500000', payments: 1 } },
  ]);
  expect((await find(paid.quote_id)).related.ids).toEqual([paid.quote_id, settlementId]);
  expect((await find(unpaid.quote_id)).related.ids).toEqual([unpaid.quote_id]);
  await redeemPayments(deps())();
});

test('what cannot be redeemed now is redeemed later', async () => {
  const { quote_id } = await open(await make());
  const settlementId = await settle(quote_id, 'issued');
  const answers = [
    () => Promise.reject(new ServiceError('service_unavailable', 'no answer')),
    async () => ({ done: false }),
  ];
  for (const redeemLinkPayment of answers)
    await database.withClock('10 minutes', async () => {
      await redeemPayments({ ...deps(), redeemLinkPayment })().catch(() => {});
    });
  expect(redeemed).toEqual([]);
  await database.withClock('20 minutes', redeemPayments(deps()));
  expect(redeemed).toEqual([settlementId]);
});

test('quotes that nobody pays do not pile up, and publish nothing', async () => {
  const link = await make();
  const paid = await open(link);
  await open(link);
  await settle(paid.quote_id, 'issued');
  published.length = 0;
  expect(await quotesOf(link)).toBe(2);
  await database.withClock('16 minutes', querySettlement(deps()));
  expect(await quotesOf(link)).toBe(1);
  expect(published).toEqual([]);
  expect(await show(link)).toMatchObject({ payments: 1 });
});

test('a deactivated link and one of a closing service are not opened', async () => {
  const link = await make();
  const deactivate = (caller: Caller) =>
    deactivatePaymentLink(deps())({ payment_link_id: link.payment_link_id }, caller);
  expect(await codeOf(deactivate(stranger()))).toBe('not_found');
  const ended = await deactivate(vendor());
  expect(ended).toMatchObject({ status: 'inactive', deactivated_at: expect.any(String) });
  expect(await deactivate(vendor())).toEqual(ended);
  expect(await codeOf(open(link))).toBe('conflict');
  const other = await make();
  status = 'closing';
  expect(await codeOf(open(other))).toBe('conflict');
  expect(await codeOf(make())).toBe('conflict');
});

describe('a phone', () => {
  const handle = 'A'.repeat(43);
  const byPhone = ({ payment_link_id }: { payment_link_id: string }, more: object = {}) => {
    const input = { payment_link_id, environment: 'test' as const, handle };
    return {
      describe: () => describePhonePayment(deps())(input, { kind: 'none' }),
      request: () =>
        requestPhonePayment({ ...deps(), ...more })({ ...input, account: PAYOUT }, { kind: 'none' }),
    };
  };

  test('is told who asks, and each of its calls opens a quote of its own', async () => {
    const link = await make();
    const { describe: described, request } = byPhone(link);
    expect(await described()).toEqual({
      label: 'Weather: Tour',
      icon: 'https://api.example.com/favicon.svg',
    });
    expect(await quotesOf(link)).toBe(0);
    const message = 'Tour: 2.50 USDC to Weather';
    expect(await request()).toEqual({ transaction: 'AQ==', message });
    await withClient({ address: '203.0.113.0/24', agent: 'x' }, request);
    expect(asked.map(({ asked_from }) => asked_from)).toEqual([null, '203.0.113.0/24']);
    const [one, other] = asked.map(({ quote_token }) => storedClaims(quote_token));
    expect(one!.quote_id).not.toBe(other!.quote_id);
    expect(await quotesOf(link)).toBe(2);
  });

  test('gets no transaction for a link for one payment, and none for one that has ended', async () => {
    const single = byPhone(await make({ single_use: true }));
    expect([await codeOf(single.describe()), await codeOf(single.request())]).toEqual([
      'conflict',
      'conflict',
    ]);
    const link = await make();
    await deactivatePaymentLink(deps())({ payment_link_id: link.payment_link_id }, vendor());
    expect(await codeOf(byPhone(link).request())).toBe('conflict');
    expect(await codeOf(byPhone({ payment_link_id: newId('pl') }).request())).toBe('not_found');
    const closing = await make();
    status = 'closing';
    expect(await codeOf(byPhone(closing).request())).toBe('conflict');
    expect(asked).toEqual([]);
  });

  test.each<['insufficient_funds' | 'service_unavailable', number]>([
    ['insufficient_funds', 0],
    // The transaction may have been signed.
    ['service_unavailable', 1],
  ])('that is answered %s leaves %i quotes', async (code, quotes) => {
    const link = await make();
    const payLinkByPhone = () => Promise.reject(new ServiceError(code, 'no'));
    expect(await codeOf(byPhone(link, { payLinkByPhone }).request())).toBe(code);
    expect(await quotesOf(link)).toBe(quotes);
  });
});
