import { expect, test } from '@jest/globals';
import { csvHead, csvLine } from './csv.ts';

test('a line has a cell for every column with exact amounts, and a vendor’s name is not a formula', () => {
  const line = csvLine(
    {
      transaction_id: 'txn_01kaj5w0c0e8h9x2m4n6p8q0rs',
      type: 'payment',
      direction: 'out',
      amount: '9007199254740993',
      fee_amount: '1',
      status: 'finalized',
      tx_hash: null,
      object_id: 'stl_01kaj5w0c0e8h9x2m4n6p8q0rs',
      service_id: '6b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f',
      delegate_id: null,
      item: '=HYPERLINK("https://x")',
      created_at: '2026-11-21T10:00:00.000Z',
    },
    { service: () => '=cmd|calc', delegate: () => null },
  );
  const cells = line.trimEnd().split(',');
  expect(cells).toHaveLength(csvHead().trimEnd().split(',').length);
  expect(cells).toEqual(
    expect.arrayContaining([
      '"9007199254740993"',
      '"9007199254.740993"',
      '"0.000001"',
      `"'=cmd|calc"`,
      `"'=HYPERLINK(""https://x"")"`,
    ]),
  );
});
