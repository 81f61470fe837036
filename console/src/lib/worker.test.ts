import { expect, test } from '@jest/globals';
import { scriptOfOurs } from './worker.ts';

test('a worker starts only from a file of the build', () => {
  expect(scriptOfOurs('/console/assets/wallet-B4_x-9.js')).toBe('/console/assets/wallet-B4_x-9.js');
  for (const address of [
    'https://elsewhere.example/console/assets/a.js',
    '//elsewhere.example/console/assets/a.js',
    '/console/assets/../../v1/x.js',
    '/console/assets/a.js?x',
    'data:text/javascript,0',
    'blob:http://localhost/1',
  ])
    expect(() => scriptOfOurs(address)).toThrow('not a script of ours');
});
