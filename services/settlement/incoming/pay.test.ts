import { describe, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { assemble } from '../../../shared/lib/chain/wire-transaction.ts';
import { type PayDeps, pay } from './pay.ts';

/** As chain-submitter answers a call that cannot read the chain: this call has done nothing. */
const unread = async (): Promise<never> => {
  throw new ServiceError('service_unavailable', 'the chain cannot be read right now', {
    money_moved: 'no',
    safe_action: 'retry_same_attempt',
  });
};
const vendor = { accountId: 'acct', serviceId: 'service', payoutAddress: 'payout' };
const transaction = assemble(Uint8Array.of(1), [null]).toString('base64');
const request = {
  vendor,
  transaction,
  orderNow: async () => ({ vendor, amountMicro: 1n, feeMicro: 0n, memo: null }),
};
const payWith = (deps: object): Promise<unknown> =>
  pay({ feeWallet: 'fees', ...deps } as unknown as PayDeps, request as never, performance.now() + 1000);

describe('a call that chain-submitter has refused unread says nothing about other calls with the payment', () => {
  test('of a payment that has a record', async () => {
    const row = {
      settlement_id: 'stl',
      service_id: 'service',
      status: 'pending',
      quote_amount: 1n,
      fee_amount: 0n,
    };
    const deps = { group: { find: async () => row }, submitIncoming: unread };
    await expect(payWith(deps)).rejects.toMatchObject({
      code: 'service_unavailable',
      extras: { money_moved: 'unknown', safe_action: 'retry_same_attempt' },
    });
  });

  test('of a payment that another call may accept at this moment', async () => {
    const deps = { group: { find: async () => null }, checkIncoming: unread };
    await expect(payWith(deps)).rejects.toMatchObject({ extras: { money_moved: 'unknown' } });
  });
});
