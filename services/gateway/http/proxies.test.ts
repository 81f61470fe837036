import { Socket } from 'node:net';
import { expect, test } from '@jest/globals';
import { HopCount, originOf } from './proxies.ts';

test.each([
  ['1', 1],
  ['0', 0],
  [undefined, 0],
])('the setting %s is valid', (text, hops) => {
  expect(HopCount.parse(text)).toBe(hops);
});

test.each(['10.0.0.0/8', '-1', '1.5', '9', 'one'])('the setting "%s" is refused at the start', (text) => {
  expect(HopCount.safeParse(text).success).toBe(false);
});

const origin = (peer: string, forwarded: string | undefined, hops: number) => {
  const socket = new Socket();
  Object.defineProperty(socket, 'remoteAddress', { value: peer });
  const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
  return originOf({ headers, socket }, hops);
};

test.each([
  ['what a caller claims before the address of a node', '10.1.2.3', '6.6.6.6, 10.0.4.9', 1, '10.0.4.9'],
  ['a claim without a proxy', '192.0.2.1', '6.6.6.6', 0, '192.0.2.1'],
  ['two proxies', '10.1.2.3', '6.6.6.6, 192.0.2.1, 10.0.4.9', 2, '192.0.2.1'],
  ['a request that has passed only the inner one of two proxies', '10.1.2.3', '192.0.2.1', 2, '192.0.2.1'],
  ['a request that has passed no proxy', '10.1.2.3', undefined, 1, '10.1.2.3'],
  ['a proxy that wrote no address', '10.1.2.3', '6.6.6.6, unknown', 1, '10.1.2.3'],
])('counted for the right address: %s', (_name, peer, forwarded, hops, address) => {
  expect(origin(peer, forwarded, hops)).toEqual({ address, viaProxy: hops > 0 });
});
