import { expect, test } from '@jest/globals';
import { isPaid, movedOf } from '../../../sdk/src/payment.ts';
import { DEMO_SHOP, TRIAL_SHOP } from './own-quotes.ts';
import {
  findSales,
  funnelOf,
  joinSales,
  percent,
  type Quote,
  revenueByTime,
  revenueOf,
  type Settlement,
  stageOf,
} from './sales-figures.ts';

const NOW = Date.parse('2026-11-21T12:00:00.000Z');
const before = (minutes: number) => new Date(NOW - minutes * 60_000).toISOString();
const after = (minutes: number) => before(-minutes);

const quote = (id: string, more: Partial<Quote> = {}): Quote => ({
  quote_id: `q_${id}`,
  quote_token: 'a.b',
  quote_amount: '1000000',
  fee_amount: '10000',
  currency: 'USDC',
  expires_at: after(5),
  status: 'pending',
  service_id: 's',
  redeem_window_seconds: 900,
  scope: null,
  settlement_id: null,
  created_at: before(5),
  ...more,
});
/** A payment of x402, which has no quote and no window. */
const incoming = (id: string, more: Partial<Settlement> = {}) =>
  payment(id, {
    rail: 'x402',
    quote_id: null,
    fee_amount: '0',
    net_amount: '1000000',
    accrued_fee: '5000',
    redeem_expires_at: null,
    ...more,
  });
const payment = (id: string, more: Partial<Settlement> = {}) =>
  ({
    settlement_id: `stl_${id}`,
    status: 'issued',
    chain_status: 'confirmed',
    rail: 'quittance',
    quote_id: `q_${id}`,
    service_id: 's',
    quote_amount: '1000000',
    fee_amount: '10000',
    net_amount: '990000',
    scope: null,
    tx_hash: null,
    superseded_tx_hashes: [],
    created_at: before(4),
    redeem_expires_at: after(10),
    redeemed_at: null,
    failure: null,
    ...more,
  }) as Settlement;

test.each([
  ['a new quote', quote('a'), null, 'quoted'],
  [
    'its time is over, and the job has not marked it yet',
    quote('a', { expires_at: before(1) }),
    null,
    'unpaid',
  ],
  ['marked', quote('a', { status: 'expired' }), null, 'unpaid'],
  ['being paid', quote('a', { status: 'settling' }), null, 'paying'],
  ['paid, and the payment is not loaded yet', quote('a', { status: 'settled' }), null, 'paid'],
  ['on its way', quote('a', { status: 'settling' }), payment('a', { status: 'pending' }), 'paying'],
  ['paid', quote('a', { status: 'settled' }), payment('a'), 'paid'],
  ['an extension', quote('a', { status: 'settling', extends: 'q_tab' }), null, 'extension'],
  [
    'an extension whose authorization has ended',
    quote('a', { status: 'settled', extends: 'q_tab' }),
    null,
    'extension',
  ],
  ['redeemed', quote('a', { status: 'settled' }), payment('a', { status: 'redeemed' }), 'delivered'],
  ['paid by x402, and not delivered', null, incoming('a'), 'undelivered'],
  ['paid by x402 and delivered', null, incoming('a', { status: 'redeemed' }), 'delivered'],
  ['on its way by MPP', null, incoming('a', { rail: 'mpp', status: 'pending' }), 'paying'],
  ['failed by x402', null, incoming('a', { status: 'failed', chain_status: 'failed' }), 'failed'],
  ['not redeemed', null, payment('a', { status: 'expired' }), 'undelivered'],
  ['not redeemed, and not marked yet', null, payment('a', { redeem_expires_at: before(1) }), 'undelivered'],
  ['an attempt failed, another may follow', quote('a'), payment('a', { status: 'failed' }), 'quoted'],
  ['a failed attempt of a quote before the window', null, payment('a', { status: 'failed' }), 'failed'],
  [
    'redeemed, and reversed on chain for good',
    quote('a', { status: 'settled' }),
    payment('a', { status: 'redeemed', chain_status: 'failed' }),
    'reversed',
  ],
] as const)('%s', (_what, of, by, stage) => expect(stageOf(of, by, NOW)).toBe(stage));

test('a quote with several attempts is one sale, with the one that succeeded, newest first', () => {
  const failed = payment('a', { settlement_id: 'stl_failed', status: 'failed' });
  for (const attempts of [
    [failed, payment('a')],
    [payment('a'), failed],
  ]) {
    const sales = joinSales([quote('a')], [...attempts, payment('old', { created_at: before(90) })], NOW);
    expect(sales.map(({ id, stage, settlement }) => [id, stage, settlement?.settlement_id])).toEqual([
      ['q_a', 'paid', 'stl_a'],
      ['q_old', 'paid', 'stl_old'],
    ]);
  }
});

test('conversion counts each loaded quote once, and revenue all payments that were not reversed', () => {
  const sales = joinSales(
    [
      quote('open'),
      quote('over', { status: 'expired' }),
      ...['paid', 'done', 'lost', 'gone'].map((id) => quote(id, { status: 'settled' })),
    ],
    [
      payment('paid'),
      payment('done', { status: 'redeemed', quote_amount: '3', fee_amount: '1', net_amount: '2' }),
      payment('lost', { status: 'expired' }),
      payment('gone', { status: 'redeemed', chain_status: 'failed' }),
      payment('older', { status: 'redeemed' }),
      payment('refused', { status: 'failed' }),
    ],
    NOW,
  );
  expect(funnelOf(sales)).toEqual({ quoted: 6, paid: 3, delivered: 1, unpaid: 2, undelivered: 1, open: 1 });
  const paid = { gross: 3_000_003n, fees: 30_001n, accrued: 0n };
  expect(revenueOf(sales, new Map())).toEqual({ ...paid, refunded: 0n, net: 2_970_002n });
  const first = sales.find(({ settlement }) => settlement !== null && isPaid(settlement))!.settlement!;
  // A refund of a payment that is not among the sales does not count.
  const refundedOf = new Map([
    [first.settlement_id, 400_001n],
    ['stl_elsewhere', 7n],
  ]);
  expect(revenueOf(sales, refundedOf)).toEqual({ ...paid, refunded: 400_001n, net: 2_570_001n });
});

test('the console’s own quotes are not counted in the conversion', () => {
  const own = [`${TRIAL_SHOP}/report`, `${DEMO_SHOP}/data`].map((resource, at) =>
    quote(`own${at}`, { scope: { resource } }),
  );
  expect(funnelOf(joinSales([quote('a'), ...own], [], NOW))).toMatchObject({ quoted: 1, open: 1 });
});

test('payments without a quote are separate sales, count as revenue and not in the conversion', () => {
  const sales = joinSales(
    [quote('a')],
    [
      incoming('x', { created_at: before(1) }),
      incoming('y', { created_at: before(2), status: 'redeemed' }),
      incoming('z', { created_at: before(3), status: 'failed', chain_status: 'failed' }),
    ],
    NOW,
  );
  expect(sales.map(({ id, stage }) => [id, stage])).toEqual([
    ['stl_x', 'undelivered'],
    ['stl_y', 'delivered'],
    ['stl_z', 'failed'],
    ['q_a', 'quoted'],
  ]);
  expect(funnelOf(sales)).toMatchObject({ quoted: 1, paid: 0, delivered: 0 });
  expect(revenueOf(sales, new Map())).toEqual({
    ...{ gross: 2_000_000n, fees: 0n, refunded: 0n },
    ...{ net: 1_990_000n, accrued: 10_000n },
  });
});

test('every day of the window is listed with its payments by UTC day, and a window of a day has hours', () => {
  const sales = joinSales(
    [],
    [
      payment('a', { created_at: '2026-11-20T23:59:59.999Z' }),
      payment('b', { created_at: '2026-11-21T00:00:00.000Z' }),
      payment('c', { created_at: '2026-11-21T11:00:00.000Z' }),
    ],
    NOW,
  );
  const days = revenueByTime(sales, Date.parse('2026-11-19T12:00:00.000Z'), NOW, new Map());
  expect(days.map(({ from, net }) => [new Date(from).toISOString().slice(0, 10), net])).toEqual([
    ['2026-11-19', 0n],
    ['2026-11-20', 990_000n],
    ['2026-11-21', 1_980_000n],
  ]);
  const hours = revenueByTime(sales, NOW - 86_400_000, NOW, new Map());
  expect([hours.length, hours[0]!.hour]).toEqual([25, true]);
  expect(hours.filter(({ net }) => net > 0n).map(({ from }) => new Date(from).getUTCHours())).toEqual([
    23, 0, 11,
  ]);
});

test.each([
  [7, 9, '78 %'],
  [0, 0, '–'],
  [999, 1000, '99 %'],
  [1, 1000, '1 %'],
  [0, 5, '0 %'],
  [5, 5, '100 %'],
])('%p of %p is %p', (part, whole, text) => expect(percent(part, whole)).toBe(text));

test('a search finds sales by id, transaction, payer and resource, or a part of them', () => {
  const sales = joinSales(
    [quote('one', { scope: { resource: 'https://shop.example.com/Report' } }), quote('two')],
    [
      payment('two', { tx_hash: '5VERv8NMvzbJ' }),
      incoming('three', { payer_address: 'Ai4gvNadtxC6', resource: '/weather' } as Partial<Settlement>),
    ],
    NOW,
  );
  const found = (search: string) => findSales(sales, search).map(({ id }) => id);
  expect(found(' ')).toHaveLength(3);
  expect(found('q_one')).toEqual(['q_one']);
  expect(found('example.com/report')).toEqual(['q_one']);
  expect(found('stl_two')).toEqual(['q_two']);
  expect(found('5verv8')).toEqual(['q_two']);
  expect(found('Ai4gvNadtxC6')).toEqual(['stl_three']);
  expect(found('weather ')).toEqual(['stl_three']);
  expect(found('nothing')).toEqual([]);
});

test('a payment moves what was captured, and nothing before, and has the name of what was sold', () => {
  const tab = { authorization: {} } as Partial<Settlement>;
  const moved = (more: Partial<Settlement>) => movedOf(payment('a', { quote_amount: '15000', ...more }));
  expect(moved({})).toBe(15_000n);
  expect(moved({ ...tab, status: 'redeemed' })).toBe(15_000n);
  for (const status of ['authorized', 'capturing', 'voided'] as const)
    expect(moved({ ...tab, status })).toBe(0n);
});

test('an extension is no sale of its own: the capture of what it extended is counted once', () => {
  const tab = payment('tab', { status: 'redeemed', quote_amount: '700000', net_amount: '690000' });
  const quotes = [
    quote('tab', { status: 'settled' }),
    quote('more', { status: 'settled', extends: 'q_tab' }),
    quote('refused', { status: 'expired', extends: 'q_tab' }),
  ];
  const sales = joinSales(quotes, [tab], NOW);
  expect(funnelOf(sales)).toMatchObject({ quoted: 1, paid: 1, delivered: 1, unpaid: 0, open: 0 });
  expect(revenueOf(sales, new Map())).toMatchObject({ gross: 700_000n, net: 690_000n });
  expect(findSales(sales, 'q_tab')).toHaveLength(3);
});
