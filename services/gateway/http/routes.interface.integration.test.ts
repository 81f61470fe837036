import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { contractList } from '../../../shared/contract/index.ts';
import { openApiDocument } from '../../../shared/contract/openapi.ts';
import { newId } from '../../../shared/lib/id.ts';
import { signAccessToken } from '../../../shared/lib/tokens/access-token.ts';
import { createKeyText } from '../../../shared/lib/tokens/key-text.ts';
import { resolved } from '../../../test/support/base/openapi-references.ts';
import {
  type GatewayFixture,
  newDelegateKey,
  newServiceKey,
  newSigningKey,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';

/**
 * Every method and path of docs/spec/interface.md, by its groups, with one credential that
 * docs/spec/decisions.md allows, and two exact statuses. `bare` is a call without credential and
 * body. `complete` is a call with the credential and the example of the contract, where the service
 * answers with the example of its answer.
 */
const CALLS = `
method path                                      credential  bare complete
POST   /v1/quote                                 service     401  201
POST   /v1/settle                                delegate    401  200
POST   /v1/settlements/:id/redeem                service     401  200
POST   /v1/settlements/:id/verify                service     401  200
POST   /v1/settlements/:id/consume               service     401  200
GET    /v1/settlements/:id                       service     401  200
GET    /v1/settlements                           jwt         401  200
POST   /v1/services                              jwt         401  201
GET    /v1/services                              jwt         401  200
GET    /v1/services/:id                          jwt         401  200
PATCH  /v1/services/:id                          jwt         401  200
DELETE /v1/services/:id                          jwt         401  204
POST   /v1/services/:id/key/rotate               service     401  200
POST   /v1/services/:id/key/reveal               jwt         401  200
POST   /v1/services/:id/key/reveal/verify        none        400  200
POST   /v1/wallets                               jwt         401  201
POST   /v1/wallets/provision                     jwt         401  201
GET    /v1/wallets                               jwt         401  200
POST   /v1/wallets/:id/onboarding                jwt         401  200
POST   /v1/wallets/:id/delegate                  jwt         401  200
POST   /v1/wallets/:id/revoke                    jwt         401  200
POST   /v1/deposits/fiat                         jwt         401  201
GET    /v1/deposits                              jwt         401  200
GET    /v1/deposits/:id                          jwt         401  200
POST   /v1/withdrawals                           jwt         401  201
POST   /v1/withdrawals/:id/approve               jwt         401  200
POST   /v1/withdrawals/:id/cancel                jwt         401  200
GET    /v1/withdrawals/:id                       jwt         401  200
GET    /v1/withdrawals                           jwt         401  200
POST   /v1/refunds                               service     401  201
POST   /v1/refunds/:id/submit                    service     401  200
POST   /v1/refunds/:id/cancel                    service     401  200
GET    /v1/refunds/:id                           service     401  200
GET    /v1/refunds                               service     401  200
POST   /v1/delegates                             jwt         401  201
GET    /v1/delegates                             jwt         401  200
GET    /v1/delegates/:id                         jwt         401  200
GET    /v1/delegates/me                          delegate    401  200
PATCH  /v1/delegates/:id                         jwt         401  200
DELETE /v1/delegates/:id                         jwt         401  204
POST   /v1/delegates/:id/key/rotate              delegate    401  200
POST   /v1/delegates/:id/key/reveal              jwt         401  200
POST   /v1/delegates/:id/key/reveal/verify       none        400  200
POST   /v1/accounts                              none        400  202
GET    /v1/accounts/me                           jwt         401  200
GET    /v1/accounts/me/settings                  jwt         401  200
PATCH  /v1/accounts/me/settings                  jwt         401  200
POST   /v1/auth/magic-link                       none        400  202
POST   /v1/auth/magic-link/verify                none        400  200
POST   /v1/auth/passkey/register/options         jwt         401  200
POST   /v1/auth/passkey/register/verify          jwt         401  201
POST   /v1/auth/passkey/login/options            none        200  200
POST   /v1/auth/passkey/login/verify             none        400  200
POST   /v1/auth/refresh                          none        403  200
POST   /v1/auth/logout                           jwt         401  204
GET    /v1/transactions                          jwt         401  200
GET    /v1/spending/summary                      jwt         401  200
GET    /v1/health                                none        200  200
GET    /v1/health/ready                          none        200  200
POST   /v1/dev/fund                              jwt         401  200
`
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [method, path, credential, bare, complete] = line.split(/ +/) as [
      string,
      string,
      string,
      string,
      string,
    ];
    return { method, path, credential, bare: Number(bare), complete: Number(complete) };
  });

/** The parts of the API document that this test reads. */
type Documented = {
  parameters?: readonly { name: string; in: string; example?: string }[];
  requestBody?: { content: { 'application/json'?: { example?: unknown } } };
  responses: Record<string, { content?: { 'application/json'?: { example?: unknown } } }>;
};
const document = resolved(openApiDocument({ serverUrl: '/' })) as {
  paths: Record<string, Record<string, Documented>>;
};

const OPERATIONS = new Map(
  contractList.flatMap(({ name: service, operations }) =>
    Object.entries(operations).map(([name, { http }]) => {
      const documented = document.paths[http.path.replaceAll(/:(\w+)/g, '{$1}')]![http.method.toLowerCase()]!;
      const call = `${http.method} ${http.path.replaceAll(/:\w+/g, ':id')}`;
      return [call, { id: `${service}.${name}`, http, documented }] as const;
    }),
  ),
);

const session = newSigningKey('test.session.1');
let fixture: GatewayFixture;
const credentials: Record<string, string | undefined> = { none: undefined };

beforeAll(async () => {
  fixture = await startGatewayFixture({
    publicKeys: [session.entry],
    limits: { scale: 1000 },
    environments: ['test'],
  });
  const { services } = fixture;
  credentials.service = services.addKey(createKeyText('vendor_test_'), newServiceKey());
  credentials.delegate = services.addKey(createKeyText('dk_test_'), newDelegateKey());
  credentials.jwt = await signAccessToken(
    {
      ...{ accountId: newId('acct'), sessionId: newId('ses'), environment: 'test', amr: ['email'] },
      ...{ authTime: Math.floor(Date.now() / 1000), now: Date.now() },
    },
    session.signing,
  );
  for (const { id, http, documented } of OPERATIONS.values()) {
    const answer = documented.responses[http.status]!.content?.['application/json']?.example ?? null;
    services.answers[id] = () => answer;
  }
});

afterAll(() => fixture.stop());

/** The path with the example ids of the contract. */
const examplePath = (path: string, { parameters = [] }: Documented): string =>
  parameters
    .filter((each) => each.in === 'path')
    .reduce((text, { name, example }) => text.replace(`:${name}`, example!), path);

const statusOf = async (method: string, path: string, credential?: string, body?: unknown) => {
  const response = await fetch(fixture.gateway.url + path, {
    method,
    headers: {
      ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  await response.text();
  return response.status;
};

test('the contract has every call of docs/spec/interface.md', () => {
  const calls = new Set(CALLS.map(({ method, path }) => `${method} ${path}`));
  expect(calls.size).toBe(60);
  expect([...calls].filter((call) => !OPERATIONS.has(call))).toEqual([]);
});

test.each(CALLS)(
  '$method $path answers $bare without credential and body, $complete with both',
  async ({ method, path, credential, bare, complete }) => {
    const { http, documented } = OPERATIONS.get(`${method} ${path}`)!;
    const url = examplePath(http.path, documented);
    const body = documented.requestBody?.content['application/json']?.example;
    expect({
      bare: await statusOf(method, url),
      complete: await statusOf(method, url, credentials[credential], body),
    }).toEqual({ bare, complete });
  },
);
