import { describe, expect, test } from '@jest/globals';
import { DEVICE_REFUSAL, deviceRefusal, deviceText, isOpenToDevices } from './device-access.ts';
import { dailyGrant } from './identity/device-delegates.ts';
import { contractList, identity } from './index.ts';
import { operationId } from './openapi.ts';

const operations = contractList.flatMap(({ name: service, operations: own }) =>
  Object.entries(own).map(([name, op]) => ({ id: operationId(service, name), op })),
);

/** The writes of docs/adr/0046. A new one is a decision about a phished code. */
const WRITES = [
  ...['identity.createDelegate', 'identity.updateDelegate', 'identity.deleteDelegate', 'identity.logout'],
  ...['settlement.settle', 'settlement.close', 'settlement.payExternal', 'settlement.reportExternal'],
  ...['settlement.denyApproval', 'settlement.createFeeQuote', 'webhook.testEndpoint'],
  ...['identity.noteExport'],
];

test('a device may read, and make exactly the writes of the list', () => {
  const ofSignIns = operations.filter(({ op }) => op.access.some((kind) => kind === 'jwt'));
  const isRead = ({ op }: (typeof operations)[number]) => op.http.method === 'GET' && op.stepUp === undefined;
  const open = ofSignIns.filter(({ op }) => isOpenToDevices(op));
  const writes = open.filter((each) => !isRead(each)).map(({ id }) => id);
  expect(writes.toSorted()).toEqual(WRITES.toSorted());
  expect(ofSignIns.filter((each) => isRead(each) && !open.includes(each))).toEqual([]);
  // Of the calls that need a recent sign-in, it makes delegates only.
  const stepUps = open.filter(({ op }) => op.stepUp === true).map(({ id }) => id);
  expect(stepUps).toEqual(['identity.createDelegate']);
});

describe('a device creates a delegate', () => {
  const { createDelegate } = identity.operations;
  const BOUNDED = { per_payment: '10000000', total: '25000000' };
  test.each([
    ['within the limits', { limits: BOUNDED }, true],
    ['with one limit more, above the others', { limits: { ...BOUNDED, monthly: '900000000' } }, true],
    ['for named vendors elsewhere', { limits: BOUNDED, external: { pay_to: ['A'], origins: null } }, true],
    ['without outgoing payments', { limits: BOUNDED, external: null }, true],
    ['without limits', { limits: {} }, false],
    ['without a limit per payment', { limits: { daily: '1' } }, false],
    ['with a limit per payment only', { limits: { per_payment: '1' } }, false],
    ['above the limit per payment', { limits: { ...BOUNDED, per_payment: '10000001' } }, false],
    ['above the limit of a day', { limits: { per_payment: '1', daily: '25000001' } }, false],
    ['for any vendor elsewhere', { limits: BOUNDED, external: { pay_to: 'any', origins: null } }, false],
  ])('%s: %j', (_name, input, isAllowed) => {
    const refusal = deviceRefusal(createDelegate, input);
    expect(refusal).toEqual(
      isAllowed ? null : expect.stringMatching(/only with a limit per_payment .* in the console/),
    );
  });

  test('whose least limit counts, whatever its period is', () => {
    expect(dailyGrant({ daily: '3', monthly: '2', total: null })).toBe(2n);
    expect(dailyGrant({ daily: null, total: '9' })).toBe(9n);
    expect(dailyGrant({ daily: null })).toBeNull();
  });
});

test('the refusal says where to do it, and the reference says what a device may do', () => {
  expect(DEVICE_REFUSAL).toMatch(/may not do this; do it in the console/);
  const text = (id: string) => deviceText(operations.find((each) => each.id === id)!.op);
  expect(text('identity.createService')).toBe('The sign-in of a device may not call it.');
  expect(text('identity.updateDelegate')).toMatch(/only for what needs no recent sign-in/);
  expect(text('identity.createDelegate')).toMatch(/only with a limit per_payment/);
  for (const id of ['identity.listDelegates', 'settlement.settle', 'quote.create', 'identity.refresh'])
    expect([id, text(id)]).toEqual([id, undefined]);
});
