import { expect, test } from '@jest/globals';
import { hintOf } from './hint.ts';

const FIXED = { amount: '50000', units: null, metered: null };
const METERED = { ...FIXED, metered: {} as never };
const AT = 'https://api.example.com/report';
const BROWSER = 'Open this address in a browser, or pay with: quittance pay';

test.each([
  [FIXED, 'GET', AT, `0.05 USDC. ${BROWSER} ${AT}`],
  [{ ...FIXED, units: 100 }, 'GET', AT, `0.05 USDC for 100 requests. ${BROWSER} ${AT}`],
  [FIXED, 'POST', AT, `0.05 USDC. Pay with: quittance pay -X POST ${AT}`],
  [METERED, 'GET', AT, `Up to 0.05 USDC, for what is used. Pay with: quittance pay ${AT}`],
  [FIXED, 'GET', `${AT}?a=1&b=2`, `0.05 USDC. ${BROWSER} '${AT}?a=1&b=2'`],
  // Nothing of an address runs in the shell that it is pasted into.
  [FIXED, 'GET', `${AT}?'$(id)'`, `0.05 USDC. ${BROWSER} '${AT}?%27$(id)%27'`],
  [FIXED, 'GET', `${AT}?${'a'.repeat(200)}`, `0.05 USDC. ${BROWSER} <address>`],
])('%j by %s at %s', (bill, method, address, hint) => {
  expect(hintOf(bill, { method, address })).toBe(hint);
});
