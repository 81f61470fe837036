import { expect, test } from '@jest/globals';
import { ServiceError } from '../../../../shared/contract/errors.ts';
import { settlement } from '../../../../shared/contract/settlement.ts';
import { readOrder } from './order.ts';

const MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const ADDRESS = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const FEE_PAYER = 'Stake11111111111111111111111111111111111111';
const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const V2 = {
  scheme: 'exact',
  network: NETWORK,
  amount: '50000',
  asset: MINT,
  payTo: ADDRESS,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
};
const { amount, ...rest } = V2;
const V1 = { ...rest, network: 'solana-devnet', maxAmountRequired: amount, resource: 'https://a.example' };

const { body } = settlement.operations.payExternal;
const read = (change: object, { network = NETWORK, mint = MINT } = {}) =>
  readOrder(
    body.parse({
      payment_attempt_id: 'a',
      resource: 'https://user@api.example.com:8443/report?a=1',
      requirement: V2,
      ...change,
    }),
    { network, mint },
  );

test.each([
  ['version 2', { requirement: V2 }, 2, null],
  ['version 2 by its number', { x402_version: 2, requirement: V2 }, 2, null],
  ['version 1', { x402_version: 1, requirement: V1 }, 1, null],
  [
    'a memo',
    { requirement: { ...V2, extra: { feePayer: FEE_PAYER, memo: 'é'.repeat(128) } } },
    2,
    'é'.repeat(128),
  ],
  ['unknown fields', { requirement: { ...V2, outputSchema: { a: [1, null] } } }, 2, null],
])('%s is read with its host and origin, and unchanged', (_name, change, version, memo) => {
  expect(read(change)).toEqual({
    rail: 'x402_out',
    expiresAt: null,
    version,
    requirement: change.requirement,
    resource: 'https://user@api.example.com:8443/report?a=1',
    host: 'api.example.com:8443',
    origin: 'https://api.example.com:8443',
    amountMicro: 50_000n,
    payTo: ADDRESS,
    feePayer: FEE_PAYER,
    memo,
  });
});

test.each([
  ['another scheme', { requirement: { ...V2, scheme: 'upto' } }, 'requirement.scheme'],
  ['another network', { requirement: { ...V2, network: V1.network } }, 'requirement.network'],
  [
    'version 1 with the id of version 2',
    { x402_version: 1, requirement: { ...V1, network: NETWORK } },
    'requirement.network',
  ],
  ['version 2 with the name of version 1', { requirement: V1 }, 'requirement.network'],
  ['another mint', { requirement: { ...V2, asset: ADDRESS } }, 'requirement.asset'],
  ['no amount', { requirement: { ...V1, network: NETWORK } }, 'requirement.amount'],
  [
    'no maxAmountRequired',
    { x402_version: 1, requirement: { ...V2, network: V1.network } },
    'requirement.maxAmountRequired',
  ],
  [
    'a long memo',
    { requirement: { ...V2, extra: { feePayer: FEE_PAYER, memo: 'é'.repeat(129) } } },
    'requirement.extra.memo',
  ],
  [
    'a control character',
    { requirement: { ...V2, extra: { feePayer: FEE_PAYER, memo: 'a\u0000' } } },
    'requirement.extra.memo',
  ],
])('%s is refused by the name of its field', (_name, change, field) => {
  let error: unknown;
  try {
    read(change);
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toBeInstanceOf(ServiceError);
  expect(error).toMatchObject({ code: 'validation_error', extras: { details: [{ path: field }] } });
});

test('a network without a name in version 1 takes version 2 only', () => {
  const network = `solana:${'1'.repeat(32)}`;
  expect(read({ requirement: { ...V2, network } }, { network }).version).toBe(2);
  expect(() => read({ x402_version: 1, requirement: V1 }, { network })).toThrow('no name in version 1');
});
