import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import { contractList } from './index.ts';
import { operationId } from './openapi.ts';

const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own).map(([name, op]) => ({ id: operationId(service, name), op })),
);
const fieldsOf = (schema: z.ZodType): string[] =>
  'shape' in schema ? Object.keys(schema.shape as object) : [];

/**
 * Calls that answer a usable key or token, and move nothing of the account by it: a service key
 * only receives.
 */
const RECEIVES_ONLY = ['identity.createService'];
const SECRET = /^(api_key|access_token)$/;

test('every call that moves money, or makes what can, names what authorises each kind of caller', () => {
  for (const { id, op } of operations) {
    const { authorisedBy, access, stepUp, money } = op;
    // A read moves nothing. One that shows what a thief could use needs a recent sign-in.
    if (op.http.method === 'GET' && stepUp === undefined) {
      expect([id, authorisedBy]).toEqual([id, undefined]);
      continue;
    }
    expect([id, authorisedBy]).not.toEqual([id, undefined]);
    const outputs = (op.output as z.ZodUnion<z.ZodObject[]>).options ?? [op.output];
    const isSecret = outputs.some((each) => fieldsOf(each).some((field) => SECRET.test(field)));
    const isHarmless = !isSecret || RECEIVES_ONLY.includes(id);
    if (authorisedBy === 'nothing') {
      expect([id, money, stepUp, isHarmless]).toEqual([id, undefined, undefined, true]);
      continue;
    }
    const kinds = access.length === 0 ? ['none'] : access;
    expect([id, new Set(Object.keys(authorisedBy!))]).toEqual([id, new Set(kinds)]);
    expect([id, authorisedBy!.jwt === 'step_up']).toEqual([id, stepUp !== undefined]);
  }
});

test('a payment by a sign-in or a delegate key is limited, or signed by its wallet', () => {
  const limits = {
    jwt: ['account_limits', 'step_up', 'wallet_signature'],
    delegate_key: ['delegate_limits'],
  };
  const payments = operations.filter(({ op }) => op.money !== undefined);
  expect(payments.length).toBeGreaterThan(6);
  for (const { id, op } of payments) {
    const authorities = op.authorisedBy === 'nothing' ? {} : op.authorisedBy!;
    for (const [kind, allowed] of Object.entries(limits))
      if (op.access.some((each) => each === kind))
        expect(allowed.map((each) => [id, each])).toContainEqual([id, authorities[kind as 'jwt']]);
  }
});

/** A challenge for a passkey is nothing until it is answered, which is noted. */
const PREPARES_ONLY = ['identity.passkeyRegisterOptions'];

test('the owner hears of every call that needs a recent sign-in', () => {
  const silent = operations.filter(({ op }) => op.stepUp !== undefined && (op.notes ?? []).length === 0);
  expect(silent.map(({ id }) => id)).toEqual(PREPARES_ONLY);
});

test('each change that needs a recent sign-in has an event of its own', () => {
  for (const { id, op } of operations) {
    if (op.stepUp === undefined || op.stepUp === true) continue;
    const kinds = Object.values(op.stepUp.when);
    expect([id, kinds.toSorted()]).toEqual([id, (op.notes ?? []).toSorted()]);
  }
});
