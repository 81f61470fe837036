import { expect, test } from '@jest/globals';
import { isAlwaysMailed } from './model.ts';

test.each([
  ['session_reused', {}, true],
  ['device_signed_in', {}, true],
  ['passkey_copied', {}, true],
  ['key_mails_off', {}, true],
  ['payout_changed', {}, true],
  ['external_allowed', {}, true],
  ['first_payment', {}, true],
  ['account_closed', {}, true],
  ['endpoint_created', {}, true],
  ['endpoint_changed', {}, true],
  ['endpoint_secret_rotated', {}, true],
  ['account_limits_changed', { raised: 'yes' }, true],
  ['account_limits_changed', { raised: 'no' }, false],
  ['allowed_ips_changed', { widened: 'yes' }, true],
  ['allowed_ips_changed', { widened: 'no' }, false],
  ['key_created', {}, false],
  ['key_rotated', {}, false],
  ['passkey_added', {}, false],
  ['warnings_reduced', {}, false],
  ['wallet_linked', {}, false],
])('%s with %j is mailed when mails about keys are off: %s', (kind, details, always) => {
  expect(isAlwaysMailed({ kind, details })).toBe(always);
});
