import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isOpenToDevices } from '../../../shared/contract/device-access.ts';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { contractList } from '../../../shared/contract/index.ts';
import { openApiDocument, operationId } from '../../../shared/contract/openapi.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import { newId } from '../../../shared/lib/id.ts';
import { resolved } from '../../../test/support/base/openapi-references.ts';
import {
  type GatewayFixture,
  newSigningKey,
  startGatewayFixture,
} from '../../../test/support/fixtures/gateway.ts';
import { gatewayCallers } from '../../../test/support/fixtures/gateway-callers.ts';

/**
 * How a sign-in was made, and its age, against every operation that takes an access token, over a
 * real gateway. Each call has an input that the contract accepts, so that no other check answers
 * first. The services answer `not_found` to what reaches them.
 */
const session = newSigningKey('test.session.1');
let fixture: GatewayFixture;
const { send, accessToken } = gatewayCallers(() => fixture, session);

type Described = {
  parameters?: { name: string; in: string; required: boolean; example?: unknown }[];
  requestBody?: { content: Record<string, { example?: unknown }> };
};
const { paths } = resolved(openApiDocument({ serverUrl: 'https://api.example' })) as unknown as {
  paths: Record<string, Record<string, Described>>;
};

const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own as Record<string, HttpOperation>)
    .filter(([, op]) => op.access.includes('jwt'))
    .map(([name, op]) => ({ id: operationId(service, name), op })),
);

/** A call with the examples of the reference. */
const exampleCall = ({ http }: HttpOperation) => {
  const { parameters = [], requestBody } =
    paths[http.path.replaceAll(/:(\w+)/g, '{$1}')]![http.method.toLowerCase()]!;
  const exampleOf = (name: string) => String(parameters.find((each) => each.name === name)!.example);
  const query = parameters.filter((each) => each.in === 'query' && each.required);
  const search = query.map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  return {
    path: `${http.path.replaceAll(/:(\w+)/g, (_all, name: string) => exampleOf(name))}?${search.join('&')}`,
    body: requestBody?.content['application/json']?.example,
  };
};

const SIGN_INS = ['email', 'passkey', 'device'].flatMap((amr) => [
  { amr, seconds: 200 },
  { amr, seconds: 400 },
]);
const FRESH_SECONDS = 300;

/** What the contract promises. `served`: the call reaches its service. */
const expectedOf = (op: HttpOperation, { amr, seconds }: (typeof SIGN_INS)[number]): string => {
  if (amr === 'device' && !isOpenToDevices(op)) return 'forbidden';
  return op.stepUp === true && seconds > FRESH_SECONDS ? 'reauthentication_required' : 'served';
};

beforeAll(async () => {
  fixture = await startGatewayFixture({ publicKeys: [session.entry], limits: { scale: 100 } });
});
afterAll(() => fixture.stop());
beforeEach(() => {
  for (const { id } of operations)
    fixture.services.answers[id] = () => {
      throw new ServiceError('not_found', 'no such object');
    };
});

const outcomeOf = async (op: HttpOperation, token: string): Promise<string> => {
  const { path, body } = exampleCall(op);
  const answer = await send(op.http.method, path, { key: token, ...(body === undefined ? {} : { body }) });
  const code = answer.body.error?.code;
  // The gateway answers the list of calls itself.
  return code === 'not_found' || answer.status === 200 ? 'served' : String(code);
};

let cases = 0;
test.each(operations)('$id by each sign-in, fresh and old', async ({ op }) => {
  for (const signIn of SIGN_INS) {
    const { amr, seconds } = signIn;
    cases += 1;
    const authTime = Math.floor(Date.now() / 1000) - seconds;
    const before = fixture.services.calls.length;
    const outcome = await outcomeOf(op, await accessToken({ amr: [amr], authTime }));
    expect({ ...signIn, outcome }).toEqual({ ...signIn, outcome: expectedOf(op, signIn) });
    const [reached] = fixture.services.calls.slice(before);
    if (reached !== undefined)
      expect([amr, (reached.caller as { device?: true }).device]).toEqual([
        amr,
        amr === 'device' ? true : undefined,
      ]);
  }
});

test('every operation that takes an access token was called by six sign-ins', () => {
  console.info(`device access: ${operations.length} operations, ${cases} calls`);
  expect(cases).toBe(operations.length * SIGN_INS.length);
  expect(operations.length).toBeGreaterThan(70);
});

const PAYEE = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const delegate = (change: object) => ({
  name: 'Agent',
  wallet_id: newId('wal'),
  limits: { per_payment: '500000', daily: '5000000' },
  ...change,
});

test.each([
  ['with limits', {}, true],
  ['for named vendors elsewhere', { external: { pay_to: [PAYEE], origins: null } }, true],
  ['without limits', { limits: {} }, false],
  ['with a limit per payment only', { limits: { per_payment: '500000' } }, false],
  ['with high limits', { limits: { per_payment: '500000', daily: '25000001' } }, false],
  ['for any vendor elsewhere', { external: { pay_to: 'any', origins: null } }, false],
])('a device creates a delegate %s (%j): %s', async (_name, change, isAllowed) => {
  const body = delegate(change);
  const byDevice = await send('POST', '/v1/delegates', { key: await accessToken({ amr: ['device'] }), body });
  expect([byDevice.status, byDevice.body.error?.code]).toEqual(
    isAllowed ? [404, 'not_found'] : [403, 'forbidden'],
  );
  if (!isAllowed) expect(byDevice.body.error?.message).toMatch(/in the console, signed in by mail/);
  const byPerson = await send('POST', '/v1/delegates', { key: await accessToken(), body });
  expect(byPerson.body.error?.code).toBe('not_found');
});
