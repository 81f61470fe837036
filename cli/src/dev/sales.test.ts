import { expect, test } from '@jest/globals';
import { type Sale, saleLine } from './sales.ts';

const sale = (more: Partial<Sale> = {}) =>
  ({
    settlement_id: 'stl_1',
    status: 'redeemed',
    chain_status: 'finalized',
    rail: 'quittance',
    quote_amount: '50000',
    net_amount: '40000',
    scope: { resource: 'http://127.0.0.1/hello' },
    ...more,
  }) as Sale;
const authorization = { max_amount: '1000000', used: '480' } as NonNullable<Sale['authorization']>;

test.each<[string, Partial<Sale>, string]>([
  ['a sale', {}, 'delivered   0.05 USDC, you receive 0.04 USDC'],
  [
    'a sale of x402, whose fee is billed',
    { rail: 'x402', net_amount: '50000', accrued_fee: '2000' },
    'delivered   0.05 USDC, you receive 0.048 USDC',
  ],
  [
    'an open authorization',
    { status: 'authorized', authorization, quote_amount: '1000000' },
    'authorized  1.00 USDC held',
  ],
  ['a void', { status: 'voided', authorization, quote_amount: '1000000' }, 'void        1.00 USDC released'],
  ['a failed payment', { status: 'failed', chain_status: 'failed' }, 'failed      0.00 USDC'],
])('%s is a line with what it brings', (_name, more, line) => {
  expect(saleLine(sale(more))).toBe(`${line}  http://127.0.0.1/hello  stl_1`);
});
