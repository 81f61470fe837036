import { describe, expect, test } from '@jest/globals';
import { createRouter, matchFault, routeOf, spellingsOf } from './routes.ts';

const paid = { price: '50000' };
const router = createRouter(
  [
    { match: 'GET /report', paid },
    { match: 'GET,POST /reports/:city', paid },
    { match: '* /api/**', paid },
    { match: 'GET /open/**', paid: null },
    { match: 'GET /Case', paid: null },
    { match: 'GET /café', paid },
  ].map(routeOf),
);
const at = (method: string, path: string): string =>
  `${router(method, path)?.match ?? 'none'} ${router(method, path)?.paid == null ? 'free' : 'paid'}`;

test.each([
  ['GET', '/report', 'GET /report paid'],
  ['HEAD', '/report', 'GET /report paid'],
  ['OPTIONS', '/report', 'none free'],
  ['POST', '/report', 'none free'],
  ['GET', '/reports', 'none free'],
  ['GET', '/reports/Ulm', 'GET,POST /reports/:city paid'],
  ['GET', '/reports/Ulm/today', 'none free'],
  ['DELETE', '/api', '* /api/** paid'],
  ['PUT', '/api/a/b', '* /api/** paid'],
  ['OPTIONS', '/api/a', 'none free'],
  ['GET', '/apis', 'none free'],
  ['GET', '/open/data', 'GET /open/** free'],
  ['GET', '/caf%C3%A9', 'GET /café paid'],
  ['GET', '/Case', 'GET /Case free'],
  ['OPTIONS', '*', 'none free'],
])('%s %s is %s', (method, path, expected) => {
  expect(at(method, path)).toBe(expected);
});

describe('a path that some server reads as a priced one is not free', () => {
  test.each([
    '/REPORT',
    '/report/',
    '//report',
    '/./report',
    '/x/../report',
    '/rep%6Frt',
    '/rep%6frt',
    '/%72eport',
    '/rep%256Frt',
    '/report;a=1',
    '/report;a/',
    '/x;a/../report',
    '/report%00',
    '/report%3Fa',
    '/report%23a',
    '\\report',
    '/%5Creport',
    '/%2Freport',
    '/open/../report',
    '/open/%2e%2e/report',
    '/open/%2e%2e%2freport',
    '/open/..;/report',
    '/open/..%5creport',
  ])('%s', (path) => {
    expect(at('GET', path)).toBe('GET /report paid');
  });
});

test('a plain path has one reading', () => {
  expect(spellingsOf('/v1/reports/ulm-2.json')).toEqual(['/v1/reports/ulm-2.json']);
});

test.each([
  ['/report', /^use methods and a path/],
  ['get /report', /^use methods and a path/],
  ['GET report', /^use methods and a path/],
  ['GET  /report', /^use methods and a path/],
  ['GET /a?b', /'a\?b' is no part of a path/],
  ['GET /a*', /'a\*' is no part of a path/],
  ['GET /**/a', /\*\* stands for all that follows/],
  ['GET /a%20b', /'a%20b' is no part/],
])('%s: %s', (match, expected) => {
  expect(matchFault(match)).toMatch(expected);
  expect(() => routeOf({ match, paid })).toThrow(TypeError);
});
