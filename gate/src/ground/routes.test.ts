import { describe, expect, test } from '@jest/globals';
import { createRouter, matchFault, type RouteSettings, routeOf, slashInFault } from './routes.ts';

const paid = { price: '50000' };
const dear = { price: '1000000' };
const ROUTES: RouteSettings[] = [
  { match: 'GET /report', paid },
  { match: 'GET,POST /reports/:city', paid },
  { match: '* /api/**', paid },
  { match: 'GET /open/**', paid: null },
  { match: 'GET /Case', paid: null },
  { match: 'GET /café', paid },
  { match: 'GET /users/@me', paid },
  { match: 'PUT /shop', paid: null },
  { match: 'GET,DELETE /shop', paid },
  { match: 'GET /projects/:id/**', slashIn: 'id', paid },
];
const routerOf = (routes: RouteSettings[], passesUnmatched = true) => {
  const router = createRouter(routes.map(routeOf), passesUnmatched);
  return (method: string, path: string, isPreflight = false): string => {
    const found = router({ method, path, isPreflight });
    if (found.kind === 'refused') return `${found.status} ${found.reason}`;
    if (found.kind === 'preflight') return `preflight, or ${found.otherwise.status}`;
    const { route } = found;
    return route === null ? 'none' : `${route.match} ${route.paid === null ? 'free' : 'paid'}`;
  };
};
const at = routerOf(ROUTES);

test.each([
  ['GET', '/report', 'GET /report paid'],
  ['HEAD', '/report', 'GET /report paid'],
  ['GET', '/reports', 'none'],
  ['GET', '/reports/Ulm', 'GET,POST /reports/:city paid'],
  ['GET', '/reports/Ulm/today', 'none'],
  ['DELETE', '/api', '* /api/** paid'],
  ['PUT', '/api/a/b', '* /api/** paid'],
  ['GET', '/api/', '* /api/** paid'],
  ['GET', '/apis', 'none'],
  ['GET', '/', 'none'],
  ['GET', '/open/data', 'GET /open/** free'],
  ['GET', '/open/Report/', 'GET /open/** free'],
  ['GET', '/caf%C3%A9', 'GET /café paid'],
  ['GET', '/caf%c3%a9', 'GET /café paid'],
  ['GET', '/users/@me', 'GET /users/@me paid'],
  ['GET', '/reports/a%20b%2C%40', 'GET,POST /reports/:city paid'],
  ['GET', '/Case', 'GET /Case free'],
  ['GET', '/case/', 'none'],
  ['GET', '/projects/a%2Fb/issues', 'GET /projects/:id/** paid'],
  ['GET', '/projects/a%2fb', 'GET /projects/:id/** paid'],
])('%s %s is %s', (method, path, expected) => {
  expect(at(method, path)).toBe(expected);
});

describe('a path that servers read in different ways is refused, whether it is for sale or not', () => {
  test.each([
    '*',
    'report',
    '//report',
    '/report//',
    '/open//x',
    '/./report',
    '/x/../report',
    '/report/.',
    '/report//..',
    '/open/../report',
    '/rep%6Frt',
    '/%72eport',
    '/rep%256Frt',
    '/x%2Dy',
    '/x%5Fy',
    '/x%7Ey',
    '/report;a=1',
    '/open;a/x',
    '/open/..;/report',
    '/x%3By',
    '/report%00',
    '/report%09',
    '/report%0A',
    '/report%7F',
    '/report%C2%85',
    '/report%3Fa',
    '/report%23a',
    '/100%25',
    '\\report',
    '/open\\x',
    '/%5Creport',
    '/%2Freport',
    '/open/a%2Fb',
    '/reports/a%2Fb',
    '/api/a%2Fb',
    '/open/%2e%2e/report',
    '/open/%2e%2e%2freport',
    '/open/..%2freport',
    '/open/..%5creport',
    '/x%2fy/%2e%2e/report',
    '/x%5cy/%2e%2e/report',
    '/report;x/%3bfoo/%2e%2e',
    '/report.',
    '/report./x',
    '/report...',
    '/report%20',
    '/report%20/x',
    '/%20report',
    '/report%C2%A0',
    '/users/%E2%80%8B/',
    '/users/%CC%81',
    '/café',
    '/caf\u00c3\u00a9',
    '/%C0%AFreport',
    '/%E9',
    '/x%',
    '/x%2',
    '/x%zz',
    '/x y',
    '/x"y',
    '/x<y',
    '/x|y',
    '/x[y]',
    '/x{y}',
    '/x^y',
    '/x`y',
    '/x\ty',
    '/report#a',
    // In the part that may contain an escaped slash.
    '/projects/..%2Fa',
    '/projects/a%2F..%2Fb',
    '/projects/a%2F%2Fb',
    '/projects/%2Fa',
    '/projects/a%2F',
    '/projects/a%2Fb.',
    '/projects/a%2F%20',
    '/projects/a%5Cb',
    '/projects/x/a%2Fb',
    // Read loosely it is another route than strictly.
    '/REPORT',
    '/report/',
    '/Reports/Ulm',
    '/reports/Ulm/',
    '/API/x',
    '/CAF%C3%89',
    '/cafe',
    '/cafe%CC%81',
    '/users/%40me',
    '/rep%E2%80%8Bort',
    '/%C5%BFhop',
    '/users/@me/',
    '/PROJECTS/a%2Fb',
  ])('%s', (path) => {
    expect(at('GET', path)).toBe('400 path');
  });
});

describe('no reading of a path is cheaper than the route that is named', () => {
  const two = routerOf([
    { match: 'GET /v1/report', paid: dear },
    { match: 'GET /files/:id', paid },
    { match: 'GET /files/:id/:part', paid: dear },
    { match: 'GET /models/**', paid: dear },
    { match: '* /v1/**', paid },
    { match: 'GET /all/**', paid },
  ]);

  test.each([
    ['/v1/report', 'GET /v1/report paid'],
    ['/v1/other', '* /v1/** paid'],
    ['/v1/Other/', '* /v1/** paid'],
    ['/v1/report/', '400 path'],
    ['/v1/REPORT', '400 path'],
    ['/V1/report/', '400 path'],
    ['/v1//report', '400 path'],
    ['/v1/./report', '400 path'],
    ['/v1/rep%6frt', '400 path'],
    ['/v1/report;a', '400 path'],
    ['/v1/report.', '400 path'],
    ['/v1/report%20', '400 path'],
    ['/v1/r%C3%A9port', '400 path'],
    ['/files/a', 'GET /files/:id paid'],
    ['/files/a%2fb', '400 path'],
    ['/files/a/b', 'GET /files/:id/:part paid'],
    ['/files/a/', '400 path'],
    ['/all/..%2fmodels/big', '400 path'],
    ['/all/..;/models/big', '400 path'],
  ])('%s: %s', (path, expected) => {
    expect(two('GET', path)).toBe(expected);
  });

  test('also if the path that is free in small letters is for sale with a slash at the end', () => {
    const three = routerOf([
      { match: 'GET /Case', paid: null },
      { match: 'GET /case/', paid },
    ]);
    expect([three('GET', '/Case'), three('GET', '/case'), three('GET', '/case/')]).toEqual([
      'GET /Case free',
      '400 path',
      '400 path',
    ]);
  });
});

describe('other methods of a path that is for sale', () => {
  test.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PROPFIND', 'QUERY', 'TRACE', 'get', ''])(
    '%s is refused',
    (method) => {
      expect(at(method, '/report')).toBe('405 method');
      expect(routerOf(ROUTES, false)(method, '/report')).toBe('405 method');
    },
  );

  test.each([
    ['POST', '/report', 'GET, HEAD'],
    ['PATCH', '/shop', 'PUT, GET, HEAD, DELETE'],
    ['OPTIONS', '/api/a', 'GET, HEAD, POST, PUT, PATCH, DELETE'],
    ['POST', '/REPORT', 'GET, HEAD'],
    ['POST', '/projects/a%2Fb', 'GET, HEAD'],
  ])('%s %s: those with a route are named', (method, path, allow) => {
    const found = createRouter(ROUTES.map(routeOf), true)({ method, path, isPreflight: false });
    expect(found).toMatchObject({ status: 405, reason: 'method', allow });
  });

  test('pass if a route frees them, and if the path is free', () => {
    expect(at('PUT', '/shop')).toBe('PUT /shop free');
    expect(at('POST', '/open/x')).toBe('none');
    expect(routerOf(ROUTES, false)('POST', '/open/x')).toBe('404 no_route');
    // The route of GET for this path is the free one, not the one of all that follows.
    const below = routerOf([
      { match: 'GET /a/sample', paid: null },
      { match: 'GET /a/**', paid },
    ]);
    expect([below('POST', '/a/sample'), below('POST', '/a/x')]).toEqual(['none', '405 method']);
  });

  test.each(['/report', '/api/a', '/projects/a%2Fb'])('a preflight of %s passes as such', (path) => {
    expect(at('OPTIONS', path, true)).toBe('preflight, or 405');
    expect(routerOf(ROUTES, false)('OPTIONS', path, true)).toBe('preflight, or 405');
  });

  test('`*` of the same path names the other methods', () => {
    const router = routerOf([
      { match: 'GET /v1/**', paid },
      { match: '* /v1/**', paid: dear },
    ]);
    expect(router('POST', '/v1/x')).toBe('* /v1/** paid');
  });

  test('a preflight of a path that is free passes like any request', () => {
    expect(routerOf(ROUTES, false)('OPTIONS', '/open/x', true)).toBe('none');
  });

  test.each([
    ['a price for all that follows', { match: '* /v1/**', paid }],
    ['a free rest', { match: '* /**', paid: null }],
  ])('%s names no method of a path that an earlier route sells', (_, rest) => {
    const sold = [
      { match: 'GET /v1/report', paid: dear },
      { match: 'PUT /v1/report', paid },
    ];
    const router = routerOf([...sold, rest]);
    for (const method of ['POST', 'DELETE', 'QUERY', 'OPTIONS'])
      expect([method, router(method, '/v1/report'), router(method, '/v1/REPORT')]).toEqual([
        method,
        '405 method',
        '405 method',
      ]);
    expect(router('GET', '/v1/report')).toBe('GET /v1/report paid');
    expect(router('PUT', '/v1/report')).toBe('PUT /v1/report paid');
    expect(router('POST', '/v1/other')).toMatch(/^\* /);
    const found = createRouter(
      [...sold, rest].map(routeOf),
      true,
    )({
      ...{ method: 'POST', path: '/v1/report', isPreflight: false },
    });
    expect(found).toMatchObject({ status: 405, allow: 'GET, HEAD, PUT' });
  });

  test('a preflight of a path without a route passes as other requests do', () => {
    expect(at('OPTIONS', '/x', true)).toBe('none');
    expect(routerOf(ROUTES, false)('OPTIONS', '/x', true)).toBe('404 no_route');
    expect(at('OPTIONS', '//report', true)).toBe('400 path');
  });
});

test.each([
  ['/report', /^use methods and a path/],
  ['get /report', /^write methods in capital letters: 'GET \/report'/],
  ['GET report', /^use methods and a path/],
  ['GET  /report', /^use methods and a path/],
  ['GET /a?b', /'a\?b' is no part of a path/],
  ['GET /a*', /'a\*' is no part of a path/],
  ['GET /**/a', /\*\* stands for all that follows/],
  ['GET /a%20b', /'a%20b' is no part/],
  ['GET /a//b', /^no request has this path/],
  ['GET //:a', /^no request has this path/],
  ['GET /a/../b', /^no request has this path/],
  ['GET /a.', /^no request has this path/],
  ['GET /a;b', /^no request has this path/],
])('%s: %s', (match, expected) => {
  expect(matchFault(match)).toMatch(expected);
  expect(() => routeOf({ match, paid })).toThrow(TypeError);
});

test('a slash can be escaped in a part that the path names', () => {
  expect(slashInFault('GET /a/:id', 'id')).toBeNull();
  for (const wrong of ['a', ':id', 'other', '**', ''])
    expect(() => routeOf({ match: 'GET /a/:id/**', slashIn: wrong, paid })).toThrow(
      /name a part of the path/,
    );
});
