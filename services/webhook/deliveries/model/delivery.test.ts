import { expect, test } from '@jest/globals';
import { eachPair } from '../../../../test/support/base/each-pair.ts';
import { deliveries } from './delivery.ts';

test.each(
  // biome-ignore format: a table
  eachPair(deliveries, ['deliver', 'retry', 'exhaust', 'redeliver'], {
    pending:   ['delivered', 'pending', 'failed', 'pending'],
    delivered: ['-',         '-',       '-',      'pending'],
    failed:    ['-',         '-',       '-',      'pending'],
  }),
)('transition of a delivery in state %s on %s: %s', (_state, _event, actual, expected) => {
  expect(actual).toBe(expected);
});

test('a delivery in any state may be redelivered, because the statement does not check the state', () => {
  expect(deliveries.from('redeliver')).toEqual(deliveries.states);
});
