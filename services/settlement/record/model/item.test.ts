import { expect, test } from '@jest/globals';
import { itemOf } from './item.ts';

test.each([
  [{ resource: 'https://a', payment_link: { title: 'Harbour tour' } }, 'Harbour tour'],
  [{ resource: 'https://a' }, 'https://a'],
  [{ resource: 'https://a', payment_link: null }, 'https://a'],
  [{ resource: 7 }, null],
  [{}, null],
  [null, null],
])('%j is named %j', (scope, name) => expect(itemOf(scope)).toBe(name));
