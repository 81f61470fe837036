import { expect, test } from '@jest/globals';
import { SHAPES } from '../../../test/support/payment-shapes.ts';
import { PaymentRefusal } from '../payments/refusal.ts';

const answerOf = (evaluate: () => unknown): string => {
  try {
    evaluate();
    return 'signed';
  } catch (error) {
    if (!(error instanceof PaymentRefusal)) throw error;
    return error.reason;
  }
};

test.each(SHAPES.map((each) => [each.shape, each] as const))('%s', (_shape, { evaluate, answer }) => {
  expect(answerOf(evaluate)).toBe(answer);
});
