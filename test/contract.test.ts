import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { natsRights, operatorRights } from '../shared/bus/topology.ts';
import { ERRORS } from '../shared/contract/errors.ts';
import { contractList } from '../shared/contract/index.ts';
import { operationId } from '../shared/contract/openapi.ts';
import { errorsOf, type InternalOperation, isForOperators, subjects } from '../shared/contract/service.ts';

/**
 * The contract has what the documents and the code assume, and what docs/spec/interface.md
 * requires.
 */

const operations = contractList.flatMap((contract) =>
  Object.entries(contract.operations).map(([name, op]) => ({ service: contract.name, name, op })),
);
const fieldsOf = (schema: z.ZodObject) => Object.keys(schema.shape);
const inOrder = (names: Iterable<string>) => [...names].sort((a, b) => (a < b ? -1 : 1));
const repeated = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);

/**
 * Fields whose text may have any characters, each with the reason why a NUL in it cannot reach
 * Postgres. A field of a named schema begins with the name.
 */
const ANY_TEXT = {
  cursor: 'its MAC is wrong',
  raw_headers: 'Node refuses such a header',
  redirect_url: 'passed to the provider, not stored',
  scope: 'stored as json, which has an escape for it',
  'IpBlock.allowed_ips': 'read as an address',
  'WalletProof.message': 'compared with the expected one',
  'X402PaymentPayload.network': 'compared with the expected one',
  'X402PaymentPayload.scheme': 'compared with the expected one',
  'X402PaymentPayload.transaction': 'read as a transaction',
  'X402PaymentPayload.url': 'shown without control characters',
  'X402PaymentRequirements.amount': 'read as an amount',
  'X402PaymentRequirements.asset': 'compared with the expected one',
  'X402PaymentRequirements.maxAmountRequired': 'read as an amount',
  'X402PaymentRequirements.network': 'compared with the expected one',
  'X402PaymentRequirements.payTo': 'compared with the expected one',
  'X402PaymentRequirements.resource': 'shown without control characters',
  'X402PaymentRequirements.scheme': 'compared with the expected one',
  'X402Requirement.asset': 'compared with the expected one',
  'X402Requirement.memo': 'refused by the service',
  'X402Requirement.network': 'compared with the expected one',
  'X402Requirement.scheme': 'compared with the expected one',
};

test('no text of a caller can contain what the database refuses', () => {
  const free = new Set<string>();
  type Schema = z.core.JSONSchema.JSONSchema;
  const collectIn = (named: Record<string, Schema>) => {
    const collect = (schema: Schema | boolean | undefined, name: string, within = '') => {
      const place = within + name;
      if (typeof schema !== 'object' || Object.hasOwn(ANY_TEXT, place)) return void free.add(place);
      const { $ref, type, pattern, enum: values, const: value } = schema;
      const reference = $ref?.replace('#/$defs/', '');
      if (reference !== undefined) collect(named[reference], name, `${reference}.`);
      if (type === 'string' && (pattern ?? values ?? value) === undefined) free.add(place);
      for (const [field, each] of Object.entries(schema.properties ?? {})) collect(each, field, within);
      for (const each of [schema.items, ...(schema.anyOf ?? []), ...(schema.oneOf ?? [])].flat())
        if (each !== undefined) collect(each, name, within);
    };
    return collect;
  };
  for (const { op } of operations) {
    const schema = z.toJSONSchema(op.input, { io: 'input', reused: 'inline' });
    collectIn((schema.$defs ?? {}) as Record<string, Schema>)(schema, '');
  }
  expect(inOrder(free)).toEqual(inOrder(Object.keys(ANY_TEXT)));
});

test('a text that is too long for a mail address is not matched with its pattern', () => {
  // The pattern needs quadratic time: four seconds for a body of 60 kB, in which the gateway is
  // blocked.
  const email = `a@${'.'.repeat(60_000)}@`;
  const { body } = operations.find(({ name }) => name === 'createAccount')!.op;
  expect(body.safeParse({ email }).error?.issues.map(({ code }) => code)).toEqual(['too_big']);
});

test('routes, operation names and subjects are unique', () => {
  const routes = operations.map(({ op }) => `${op.http.method} ${op.http.path.replace(/:\w+/g, ':id')}`);
  expect(repeated(routes)).toEqual([]);
  expect(repeated(operations.map(({ service, name }) => operationId(service, name)))).toEqual([]);
  for (const { operations: own, internal } of contractList) {
    // A service's handlers share one folder and one table.
    expect(repeated([...Object.keys(own), ...Object.keys(internal)])).toEqual([]);
  }
  expect(
    repeated(
      contractList.flatMap(({ name, events, jobs }) => [
        ...Object.keys(events).map((event) => subjects.event(name, event)),
        ...Object.keys(jobs).map((job) => subjects.job(name, job)),
      ]),
    ),
  ).toEqual([]);
  // The gateway calls `rpc.<service>.ping` to check a service.
  expect(operations.filter(({ name }) => name === 'ping')).toEqual([]);
});

test.each(operations.map((each) => [operationId(each.service, each.name), each] as const))(
  '%s is declared consistently',
  (_id, { service, op }) => {
    const { params, query, body, http, access, limits, environment } = op;
    const fields = [params, query, body].flatMap(fieldsOf);
    expect(repeated(fields)).toEqual([]);
    expect(http.path).toMatch(/^\/(v1|\.well-known)\//);
    expect([...http.path.matchAll(/:(\w+)/g)].map(([, name]) => name)).toEqual(fieldsOf(params));
    if (http.method === 'GET') expect(fieldsOf(body)).toEqual([]);
    if (typeof op.repeatable === 'object') expect(fieldsOf(body)).toContain(op.repeatable.with);
    if (http.status === 204) expect(op.output.safeParse(null).success).toBe(true);
    // Unknown fields are refused at all levels. A body of another protocol drops them.
    for (const part of op.dialect === undefined ? [params, query, body, op.input] : [params, query]) {
      expect(part.safeParse({ surely_unknown: 1 }).error?.issues.map(({ code }) => code)).toContain(
        'unrecognized_keys',
      );
    }

    expect(limits.length).toBeGreaterThan(0);
    for (const { points, windowSeconds, per } of limits) {
      expect(points).toBeGreaterThan(0);
      expect(windowSeconds).toBeGreaterThan(0);
      if (per === 'account') expect(access.length).toBeGreaterThan(0);
      if (typeof per === 'object') expect(fields).toContain(per.field);
    }
    expect(op.timeoutSeconds).toBeLessThan(30); // Load balancers time out then.

    for (const code of errorsOf(op)) expect(Object.keys(ERRORS)).toContain(code);
    // A call without credential must name its environment.
    if (access.length === 0 && service !== 'gateway') {
      expect(fields).toContain(environment === undefined ? undefined : Object.values(environment)[0]);
    } else expect(environment).toBeUndefined();
  },
);

test('a call without a credential is counted for its address', () => {
  // A caller chooses the value of a field, so a limit of a field alone bounds nobody.
  const unbounded = operations.filter(
    ({ op }) => op.access.length === 0 && !op.limits.some(({ per }) => per === 'ip'),
  );
  expect(unbounded.map(({ service, name }) => operationId(service, name))).toEqual([]);
});

/**
 * The limits and credentials of docs/spec/interface.md. Where docs/spec/decisions.md adds a
 * credential, the column has all of them.
 */
const PROMISED: readonly [string, string, points: number, windowSeconds: number, access: string][] = [
  ['POST', '/v1/quote', 30, 60, 'service_key'],
  ['POST', '/v1/settle', 20, 60, 'delegate_key jwt'],
  ['POST', '/v1/settlements/:id/redeem', 30, 60, 'service_key'],
  ['POST', '/v1/settlements/:id/consume', 120, 60, 'service_key'],
  ['POST', '/v1/settlements/:id/verify', 120, 60, 'service_key'],
  ['POST', '/v1/refunds', 5, 60, 'jwt service_key'],
  ['POST', '/v1/withdrawals', 5, 60, 'jwt'],
  ['POST', '/v1/deposits/fiat', 5, 60, 'jwt'],
  ['POST', '/v1/wallets/provision', 5, 60, 'jwt'],
  ['POST', '/v1/services', 10, 60, 'jwt'],
  ['POST', '/v1/services/:id/key/rotate', 3, 60, 'jwt service_key'],
  ['POST', '/v1/delegates/:id/key/rotate', 3, 60, 'delegate_key jwt'],
  ['POST', '/v1/services/:id/key/reveal', 5, 300, 'jwt'],
  ['POST', '/v1/delegates/:id/key/reveal', 5, 300, 'jwt'],
];
const find = (method: string, path: string) =>
  operations.find(({ op }) => op.http.method === method && op.http.path.replace(/:\w+/g, ':id') === path)?.op;

/** Calls that are one item of the list, so that one window counts them. */
const SHARED_LIMITS: [RegExp, string][] = [
  [/key\/rotate$/, 'key-rotation'],
  [/key\/reveal$/, 'key-reveal'],
];

test.each(PROMISED)(
  'the contract has the limit and the credentials of %s %s that docs/spec/interface.md names',
  (method, path, points, windowSeconds, access) => {
    const [, bucket] = SHARED_LIMITS.find(([paths]) => paths.test(path)) ?? [];
    const op = find(method, path);
    expect({ limits: op?.limits, access: inOrder(op?.access ?? []).join(' ') }).toEqual({
      limits: [{ points, windowSeconds, per: 'account', ...(bucket !== undefined && { bucket }) }],
      access,
    });
  },
);

/** docs/spec/decisions.md, Step-up: every call of the list, and no read or payment in addition. */
const STEP_UP: readonly [string, always: boolean][] = [
  ['POST /v1/auth/passkey/register/options', true],
  ['POST /v1/auth/passkey/register/verify', true],
  ['POST /v1/wallets', true],
  ['POST /v1/wallets/provision', true],
  ['GET /v1/wallets/:id/backup', true],
  ['PATCH /v1/wallets/:id/backup', true],
  ['POST /v1/auth/device/decide', true],
  ['POST /v1/accounts/me/close', true],
  ['PATCH /v1/accounts/me/limits', true],
  ['PATCH /v1/accounts/me/settings', false],
  ['DELETE /v1/accounts/me/passkeys/:id', true],
  ['POST /v1/withdrawals/:id/approve', true],
  ['POST /v1/delegates', true],
  ['PATCH /v1/delegates/:id', false],
  ['POST /v1/delegates/:id/key/rotate', true],
  ['POST /v1/delegates/:id/key/reveal', true],
  ['PATCH /v1/services/:id', false],
  ['POST /v1/refunds', true],
  ['POST /v1/services/:id/key/rotate', true],
  ['POST /v1/services/:id/key/reveal', true],
  ['POST /v1/webhook-endpoints', true],
  ['DELETE /v1/webhook-endpoints/:id', true],
  ['PATCH /v1/webhook-endpoints/:id', false],
  ['POST /v1/webhook-endpoints/:id/secret/rotate', true],
];

test('exactly the calls of the list need a recent sign-in', () => {
  const promised = STEP_UP.map(([call, always]) => {
    const [method, path] = call.split(' ') as [string, string];
    return { call, always, op: find(method, path)! };
  });
  for (const { call, always, op } of promised) {
    expect([call, op.stepUp === true]).toEqual([call, always]);
    expect(op.access).toContain('jwt');
    expect(errorsOf(op)).toContain('reauthentication_required');
  }
  const others = operations.filter(({ op }) => op.stepUp !== undefined && !promised.some((p) => p.op === op));
  expect(others.map(({ service, name }) => operationId(service, name))).toEqual([]);
});

/** POSTs whose repeat is harmless, for the reasons of docs/adr/0017-idempotency-keys.md. */
const HARMLESS = new Set([
  ...['settlement.settle', 'settlement.redeem', 'settlement.consume', 'settlement.verify'],
  ...['settlement.usage', 'settlement.capture', 'settlement.void', 'settlement.close'],
  // The signed message identifies the payment, and a fee quote that is not paid costs nothing.
  ...['settlement.x402Verify', 'settlement.x402Settle', 'settlement.acceptForeign'],
  ...['settlement.reissueForeign', 'settlement.createFeeQuote'],
  // So does that of a link. An opening costs nothing, and a link is deactivated once.
  ...['settlement.payLink', 'quote.openPaymentLink', 'quote.deactivatePaymentLink'],
  ...['quote.requestPhonePayment', 'settlement.followPhonePayment'],
  // The attempt identifies the payment, and a report is a hint.
  ...['settlement.payExternal', 'settlement.reportExternal'],
  ...['wallet.link', 'wallet.provision', 'wallet.onboarding', 'wallet.delegate', 'wallet.revoke'],
  ...[
    'funding.approveWithdrawal',
    'funding.cancelWithdrawal',
    'funding.submitRefund',
    'funding.cancelRefund',
  ],
  ...[
    'funding.providerWebhook',
    'identity.createAccount',
    'identity.requestMagicLink',
    'identity.readMagicLink',
    'identity.followMagicLink',
    'identity.verifyMagicLink',
  ],
  ...['identity.passkeyRegisterOptions', 'identity.passkeyRegisterVerify', 'identity.passkeyLoginOptions'],
  ...['identity.passkeyLoginVerify', 'identity.refresh', 'identity.logout', 'identity.revealServiceKey'],
  // A closed account cannot be closed again: its sign-ins have ended.
  'identity.closeAccount',
  // It looks once more.
  'identity.checkServiceDomain',
  // A repeat is noted twice.
  'identity.noteExport',
  // An unconfirmed sign-in of a device is worth nothing, and the first decision stands.
  ...['identity.startDeviceSignIn', 'identity.pollDeviceSignIn'],
  ...['identity.readDeviceSignIn', 'identity.decideDeviceSignIn'],
  // A challenge is answered once, and a decision that is repeated is the same decision.
  ...['identity.approvalOptions', 'identity.approve', 'settlement.denyApproval'],
  ...['webhook.testEndpoint', 'webhook.redeliver'],
  ...['identity.verifyServiceReveal', 'identity.revealDelegateKey', 'identity.verifyDelegateReveal'],
]);

test('every POST takes an Idempotency-Key or needs none, and no stored answer contains a secret', () => {
  const posts = operations.filter(({ op }) => op.http.method === 'POST');
  const keyless = posts.filter(({ op }) => op.idempotency === undefined);
  expect(inOrder(keyless.map(({ service, name }) => operationId(service, name)))).toEqual(inOrder(HARMLESS));
  for (const { op } of operations.filter((each) => each.op.idempotency !== undefined)) {
    expect([op.http.method, op.http.alternative]).toEqual(['POST', undefined]);
    // Stored per account.
    expect(op.access.length).toBeGreaterThan(0);
    const options = (op.output as z.ZodUnion<z.ZodObject[]>).options ?? [op.output];
    const fields = options.map((each) => fieldsOf(each));
    const shown = fields.filter((names) =>
      names.some((name) => /secret$|_key$|^(access|refresh)_token$/.test(name)),
    );
    if (op.idempotency === true) expect([options.length, shown]).toEqual([1, []]);
    else {
      expect(shown).toEqual([fields[0]]);
      expect(fields[0]).toContain(op.idempotency!.secret);
      expect(fields[1]).toContain('secret_already_shown');
    }
  }
});

test.each([
  ['quote_expired', 410],
  ['settlement_expired', 410],
  ['validation_error', 400],
  ['unauthorized', 401],
  ['payment_required', 402],
  ['forbidden', 403],
  ['not_found', 404],
  ['conflict', 409],
  ['rate_limited', 429],
] as const)('%s answers %d', (code, status) => {
  expect(ERRORS[code].http).toBe(status);
});

// ---------- rights on the bus ----------

const rights = Object.entries(natsRights());

test('only the gateway may publish rpc.*, and it has no right on streams or jobs', () => {
  const mayCall = rights.filter(([, { publish }]) => publish.some((subject) => subject.startsWith('rpc.')));
  expect(mayCall.map(([user]) => user)).toEqual(['gateway']);
  const gateway = natsRights().gateway;
  expect(gateway.publish.filter((subject) => /^(\$|job\.|evt\.)/.test(subject))).toEqual([]);
  expect(gateway.subscribe).toEqual([
    '_INBOX_gateway.>',
    'evt.identity.keysRevoked',
    'evt.identity.sessionRevoked',
    'op.*.gateway.each.*',
    'wake.gateway.>',
  ]);
});

test('no service may publish to all subjects, to the API of streams, or in another service’s name', () => {
  for (const [user, { publish, subscribe }] of rights) {
    for (const subject of publish) {
      expect([user, subject]).not.toEqual([
        user,
        expect.stringMatching(/^([>*]|\$JS\.API\.(>|\*|STREAM\.(?!INFO\.EVENTS$)))/),
      ]);
      // An event is the service's own, and so is an answer: `_INBOX_<caller>.<responder>.>`.
      if (/^(evt\.|_INBOX_)/.test(subject))
        expect(subject.replace('_operator.*', '').split('.')[1]).toBe(user);
    }
    const live = contractList.find(({ name }) => name === user)?.subscribesLive ?? [];
    for (const subject of subscribe) {
      if (live.some((event) => subject === `evt.${event}`)) continue;
      const [kind, owner] = subject.replace('op.*.', 'op.').split('.');
      expect([user, kind === `_INBOX_${user}` || owner === user]).toEqual([user, true]);
    }
  }
});

test('only a job’s service consumes it, and only the services that the contract names publish it', () => {
  for (const { name, jobs } of contractList) {
    for (const [job, { producers }] of Object.entries(jobs)) {
      const takes = `$JS.API.CONSUMER.MSG.NEXT.JOBS.${name}_${job}`;
      expect(rights.filter(([, { publish }]) => publish.includes(takes)).map(([user]) => user)).toEqual([
        name,
      ]);
      const puts = rights.filter(([, { publish }]) => publish.includes(subjects.job(name, job)));
      expect(inOrder(puts.map(([user]) => user))).toEqual(inOrder(producers));
    }
  }
});

test('an internal operation is called by the users that the contract names', () => {
  for (const { name, internal } of contractList) {
    for (const [operation, one] of Object.entries<InternalOperation>(internal)) {
      const may = rights.filter(([, { publish }]) => publish.includes(subjects.internal(name, operation)));
      // An operation is either for services or for operators, who have subjects of their own.
      const callers = isForOperators(one) ? [] : one.callers;
      expect(inOrder(may.map(([user]) => user))).toEqual(inOrder(callers));
    }
  }
});

test('an operator calls in the own name only, and only the service of an operation hears it', () => {
  expect(operatorRights('jane')).toEqual({ publish: ['op.jane.>'], subscribe: ['_INBOX_operator.jane.>'] });
  for (const [user, { publish, subscribe }] of rights) {
    expect([user, publish.filter((subject) => subject.startsWith('op.'))]).toEqual([user, []]);
    const heard = subscribe.filter((subject) => subject.startsWith('op.'));
    expect([user, heard]).toEqual([
      user,
      [...(user === 'gateway' ? [] : [`op.*.${user}.*`]), `op.*.${user}.each.*`],
    ]);
  }
});

test('every event that a service subscribes to is published by another', () => {
  const published = contractList.flatMap(({ name, events }) =>
    Object.keys(events).map((event) => `${name}.${event}`),
  );
  for (const { consumes, subscribesLive = [] } of contractList) {
    expect(published).toEqual(expect.arrayContaining([...consumes, ...subscribesLive]));
  }
});

test('an operation that moves money names the fields that name its payment', () => {
  for (const { name, op } of operations) {
    expect([name, op.namedBy !== undefined]).toEqual([name, op.money === 'moves']);
    const fields = [...fieldsOf(op.body), ...fieldsOf(op.params)];
    expect([name, fields]).toEqual([name, expect.arrayContaining([...(op.namedBy ?? [])])]);
  }
});
