import { expect, test } from '@jest/globals';
import { type Quota, rateLimitHeaders } from './quota.ts';

const account: Quota = {
  per: 'account',
  points: 30,
  windowSeconds: 60,
  passed: true,
  remaining: 7,
  resetMs: 1001,
};
const mail: Quota = { ...account, per: { field: 'email' }, points: 5, windowSeconds: 900, remaining: 4 };

test.each<[string, Quota[], object]>([
  ['no quota', [], {}],
  ['one', [account], { 'ratelimit-policy': '"account";q=30;w=60', ratelimit: '"account";r=7;t=2' }],
  [
    'two',
    [account, { ...account, per: 'ip', points: 100, remaining: 0, resetMs: 0, passed: false }],
    {
      'ratelimit-policy': '"account";q=30;w=60, "address";q=100;w=60',
      ratelimit: '"account";r=7;t=2, "address";r=0;t=1',
    },
  ],
  ['of a field while it passes', [mail], {}],
  [
    'of a field that refuses',
    [{ ...mail, passed: false, remaining: 0, resetMs: 5000 }],
    { 'ratelimit-policy': '"email";q=5;w=900', ratelimit: '"email";r=0;t=5' },
  ],
])('the rate-limit headers: %s', (_name, quotas, headers) => {
  expect(rateLimitHeaders(quotas)).toEqual(headers);
});
