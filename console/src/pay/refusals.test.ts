import { describe, expect, test } from '@jest/globals';
import { ERRORS } from '../../../shared/contract/errors.ts';
import { ofAccount, ofOrder, ofWallet } from './refusals.ts';

describe('every refusal says what the person can do', () => {
  test.each(Object.keys(ERRORS))('of an account, for the code %s', (code) => {
    const { text, todo } = ofAccount({ code, message: 'the server said no', safeAction: 'stop' });
    expect(text).toMatch(/^[A-Z].*\.$/);
    expect(todo).not.toBeUndefined();
    // Only a code without a sentence of ours shows the API's, which is written for programs.
    if (text.startsWith('The server')) expect(todo).toBe('support');
  });

  test.each([
    ['insufficient_funds', 'money'],
    ['delegation_inactive', 'allow'],
    ['limit_exceeded', 'limits'],
    ['quote_expired', 'new_price'],
    ['quote_already_settled', 'payments'],
    ['service_unavailable', 'again'],
    ['forbidden', 'support'],
  ])('%s of an account leads to %s', (code, todo) => {
    expect(ofAccount({ code, message: '', safeAction: null }).todo).toBe(todo);
  });

  test('what needs a new quote leads to a new price', () => {
    const said = {
      code: 'conflict',
      message: 'the quote is of another attempt',
      safeAction: 'new_quote',
    } as const;
    expect(ofAccount(said)).toMatchObject({ text: 'The quote is of another attempt.', todo: 'new_price' });
  });

  test.each([
    ['payment_failed', 'refused: facilitator_credit_exhausted', 'account'],
    ['conflict', 'vendor_frozen', 'vendor'],
    ['insufficient_funds', 'no money', 'account'],
    ['payment_failed', 'never heard of', 'again'],
    ['what_is_this', 'constructor', 'account'],
  ])('%s (%s) of a wallet leads to %s', (code, message, todo) => {
    expect(ofWallet(code, message).todo).toBe(todo);
  });

  test('an allowance is not called a limit that is to be raised', () => {
    expect(
      ofAccount({ code: 'delegation_inactive', message: '', safeAction: 'raise_limit' }).text,
    ).not.toMatch(/limit/i);
  });
});

test('a reason is a sentence, and a foreign one becomes no sentence of ours', () => {
  expect(ofOrder('insufficient_funds').text).toMatch(/^Not enough USDC in your wallet\./);
  expect(ofOrder('<b>Send money to …').text).toBe('The vendor’s server says:  b Send money to  .');
  expect(ofOrder('constructor').text).toBe('The vendor’s server says: constructor.');
});
