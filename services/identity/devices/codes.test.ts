import { expect, test } from '@jest/globals';
import { deviceOperations } from '../../../shared/contract/identity/devices.ts';
import { newDeviceCode, newUserCode } from './codes.ts';

test('a user code matches the contract, and every letter occurs', () => {
  const codes = Array.from({ length: 500 }, newUserCode);
  const { user_code } = deviceOperations.readDeviceSignIn.body.shape;
  for (const code of codes) expect(user_code.safeParse(code).success).toBe(true);
  expect(new Set(codes).size).toBe(500);
  expect([...new Set(codes.join('').replaceAll('-', ''))].sort().join('')).toBe('BCDFGHJKLMNPQRSTVWXZ');
});

test('a device code names its environment and has 246 random bits', () => {
  const code = newDeviceCode('live');
  expect(code).toMatch(/^dc_live_[A-Za-z0-9_-]{43}$/);
  expect(deviceOperations.pollDeviceSignIn.body.safeParse({ device_code: code }).success).toBe(true);
  expect(newDeviceCode('live')).not.toBe(code);
});
