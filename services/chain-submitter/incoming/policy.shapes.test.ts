import { expect, test } from '@jest/globals';
import { answerTo, SHAPES } from '../../../test/support/fixtures/chain-submitter/payment-shapes.ts';

test.each(SHAPES.map((each) => [each.shape, each] as const))('%s', (_name, shape) => {
  expect(answerTo(shape)).toBe(shape.answer);
});
