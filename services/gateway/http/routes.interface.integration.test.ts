import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contractList } from '../../../shared/contract/index.ts';
import { type Gateway, type Scene, startScene } from '../../../test/support/gateway.ts';

/**
 * Every method and path of docs/spec/interface.md, by its groups: what is built is answered, what
 * is not is listed.
 */
const CALLS = `
POST /v1/quote
POST /v1/settle
POST /v1/settlements/:id/redeem
POST /v1/settlements/:id/verify
POST /v1/settlements/:id/consume
GET /v1/settlements/:id
GET /v1/settlements
POST /v1/services
GET /v1/services
GET /v1/services/:id
PATCH /v1/services/:id
DELETE /v1/services/:id
POST /v1/services/:id/key/rotate
POST /v1/services/:id/key/reveal
POST /v1/services/:id/key/reveal/verify
POST /v1/wallets
POST /v1/wallets/provision
GET /v1/wallets
POST /v1/wallets/:id/onboarding
POST /v1/wallets/:id/delegate
POST /v1/wallets/:id/revoke
POST /v1/deposits/fiat
GET /v1/deposits
GET /v1/deposits/:id
POST /v1/withdrawals
POST /v1/withdrawals/:id/approve
POST /v1/withdrawals/:id/cancel
GET /v1/withdrawals/:id
GET /v1/withdrawals
POST /v1/refunds
POST /v1/refunds/:id/submit
POST /v1/refunds/:id/cancel
GET /v1/refunds/:id
GET /v1/refunds
POST /v1/delegates
GET /v1/delegates
GET /v1/delegates/:id
GET /v1/delegates/me
PATCH /v1/delegates/:id
DELETE /v1/delegates/:id
POST /v1/delegates/:id/key/rotate
POST /v1/delegates/:id/key/reveal
POST /v1/delegates/:id/key/reveal/verify
POST /v1/accounts
GET /v1/accounts/me
GET /v1/accounts/me/settings
PATCH /v1/accounts/me/settings
POST /v1/auth/magic-link
POST /v1/auth/magic-link/verify
POST /v1/auth/passkey/register/options
POST /v1/auth/passkey/register/verify
POST /v1/auth/passkey/login/options
POST /v1/auth/passkey/login/verify
POST /v1/auth/refresh
POST /v1/auth/logout
GET /v1/transactions
GET /v1/spending/summary
GET /v1/health
GET /v1/health/ready
POST /v1/dev/fund
`
  .trim()
  .split('\n');

const inContract = new Set(
  contractList.flatMap(({ operations }) =>
    Object.values(operations).map(({ http }) => `${http.method} ${http.path.replace(/:\w+/g, ':id')}`),
  ),
);

let scene: Scene;
let gateway: Gateway;

beforeAll(async () => {
  scene = await startScene({ publicKeys: [], limits: { scale: 1000 }, environments: ['test'] });
  gateway = scene.gateway;
}, 30_000);

afterAll(() => scene.stop(), 60_000);

test('everything that docs/spec/interface.md names is in the contract', () => {
  expect(new Set(CALLS).size).toBe(60);
  expect(CALLS.filter((call) => !inContract.has(call))).toEqual([]);
});

test.each(CALLS)('%s', async (call) => {
  const [method, path] = call.split(' ') as [string, string];
  const response = await fetch(gateway.url + path.replace(':id', 'x'), { method });
  const { error } = (await response.json()) as { error?: { message: string } };
  // Most refuse a call without credential and body, which is an answer: only a path that is not there says so.
  expect([call, error?.message]).not.toEqual([call, 'no such path']);
});
