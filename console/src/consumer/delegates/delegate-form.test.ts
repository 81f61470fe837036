import { expect, test } from '@jest/globals';
import type { Delegate } from './delegate-form.ts';
import { changedBody, faultsOf, newBody, typedOf } from './delegate-form.ts';

const SERVICES = ['6b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f', '0b0f7c52-0d0f-4a5e-9f0b-0a1b2c3d4e5f'] as const;
const ADDRESS = 'Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u';
const empty = typedOf(null);
const usage = { spent: '0', held: '0', remaining: null, resets_at: null };
const delegate: Delegate = {
  delegate_id: 'del_01kaj5w0c0e8h9x2m4n6p8q0rs',
  name: 'Robot',
  wallet_id: 'wal_01kaj5w0c0e8h9x2m4n6p8q0rs',
  limits: { per_payment: null, daily: '1234500001', monthly: null, total: '1' },
  usage: { daily: usage, monthly: usage, total: usage },
  allowed_service_ids: [SERVICES[0]],
  external: null,
  approval_above: null,
  // The form shows minutes, so it must not change the seconds of an unchanged time.
  expires_at: '2099-12-31T23:59:59.999Z',
  status: 'active',
  revoked_at: null,
  created_at: '2026-11-21T10:00:00.000Z',
};

test('an empty field is no limit, and is not sent', () => {
  expect(newBody({ ...empty, name: ' Robot ' })).toEqual({ name: 'Robot', limits: {} });
  expect(newBody({ ...empty, name: 'R', daily: '1000', services: `${SERVICES[0]}, ${SERVICES[0]}` })).toEqual(
    {
      name: 'R',
      limits: { daily: '1000000000' },
      allowed_service_ids: [SERVICES[0]],
    },
  );
});

test('an unchanged form changes nothing, and a changed field is sent alone', () => {
  const before = typedOf(delegate);
  expect(before).toMatchObject({ daily: '1234.500001', total: '0.000001', monthly: '' });
  expect(faultsOf(before)).toEqual({});
  expect(changedBody(before, { ...before })).toEqual({});
  expect(changedBody(before, { ...before, name: 'Robot ' })).toEqual({});
  expect(changedBody(before, { ...before, daily: '' })).toEqual({ limits: { daily: null } });
  expect(changedBody(before, { ...before, monthly: '5' })).toEqual({ limits: { monthly: '5000000' } });
  expect(changedBody(before, { ...before, services: '' })).toEqual({ allowed_service_ids: null });
  expect(changedBody(before, { ...before, services: SERVICES.join('\n') })).toEqual({
    allowed_service_ids: SERVICES,
  });
  expect(changedBody(before, { ...before, until: '' })).toEqual({ expires_at: null });
});

test('other vendors and approvals are off, and only a change of them is sent', () => {
  const robot = { ...empty, name: 'R' };
  expect(newBody({ ...robot, others: 'any', ask: '5' })).toEqual({
    name: 'R',
    limits: {},
    external: { pay_to: 'any', origins: null },
    approval_above: '5000000',
  });
  const listed = { ...robot, others: 'list', payTo: `${ADDRESS}\n${ADDRESS}`, origins: 'https://a.example' };
  const external = { pay_to: [ADDRESS], origins: ['https://a.example'] };
  expect(faultsOf(listed)).toEqual({});
  expect(newBody(listed)).toMatchObject({ external });
  const before = typedOf({ ...delegate, allowed_service_ids: null, external, approval_above: '5000000' });
  expect(before).toMatchObject({ others: 'list', payTo: ADDRESS, origins: 'https://a.example', ask: '5.00' });
  expect(changedBody(before, { ...before, payTo: ` ${ADDRESS} ` })).toEqual({});
  expect(changedBody(before, { ...before, others: 'no' })).toEqual({ external: null });
  expect(changedBody(before, { ...before, others: 'any', origins: '' })).toEqual({
    external: { pay_to: 'any', origins: null },
  });
  expect(changedBody(before, { ...before, ask: '' })).toEqual({ approval_above: null });
});

test.each([
  ['a seventh decimal', { daily: '0.0000001' }, ['daily']],
  ['zero', { total: '0' }, ['total']],
  ['a word', { per_payment: 'many' }, ['per_payment']],
  ['an id that is none', { services: `${SERVICES[0]} weather` }, ['services']],
  [
    '101 services',
    { services: Array.from({ length: 101 }, () => crypto.randomUUID()).join(' ') },
    ['services'],
  ],
  ['a moment that has passed', { until: '2020-01-01T00:00' }, ['until']],
  ['half a moment', { until: '2099-' }, ['until']],
  ['an amount to ask from that is none', { ask: 'some' }, ['ask']],
  ['no address in the list', { others: 'list' }, ['payTo']],
  ['an address that is none', { others: 'list', payTo: `${ADDRESS} 0x12` }, ['payTo']],
  ['an origin with a path', { others: 'any', origins: 'https://api.example.com/x' }, ['origins']],
  ['an origin without a scheme', { others: 'any', origins: 'api.example.com' }, ['origins']],
  ['services and other vendors', { others: 'any', services: SERVICES[0] }, ['services']],
  ['what is not shown', { others: 'no', payTo: '0x12', origins: 'x', services: SERVICES[0] }, []],
  ['nothing at all', {}, []],
])('an error is shown: %s', (_name, typed, fields) => {
  expect(Object.keys(faultsOf({ ...empty, ...typed }))).toEqual(fields);
});
