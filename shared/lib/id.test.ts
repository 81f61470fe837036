import { expect, test } from '@jest/globals';
import { TransactionId } from '../contract/wallet/transactions.ts';
import { derivedId, idBoundAt, newId } from './id.ts';

test('a derived id is always the same, has the time of its object, and differs for another name or object', () => {
  const object = newId('stl');
  const [out, again, other, foreign] = [
    derivedId('txn', object, 'out'),
    derivedId('txn', object, 'out'),
    derivedId('txn', object, 'in'),
    derivedId('txn', newId('stl'), 'out'),
  ];
  expect(TransactionId.parse(out)).toBe(again);
  expect(new Set([out, other, foreign]).size).toBe(3);
  // 48 bits of time are the first nine characters and a half.
  expect(out.slice(4, 13)).toBe(object.slice(4, 13));
});

test('the bound of a time is above the ids of before, and below those of now', () => {
  const before = newId('stl');
  const bound = idBoundAt('stl', Date.now() + 1);
  expect(before < bound).toBe(true);
  expect(idBoundAt('stl', Date.now()) < newId('stl')).toBe(true);
  expect(idBoundAt('stl', -1)).toBe(idBoundAt('stl', 0));
});
