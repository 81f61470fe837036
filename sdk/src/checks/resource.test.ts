import { expect, test } from '@jest/globals';
import { isResourceOf, resourceOf } from './resource.ts';

const CALLED = 'https://api.example.com/a/b';

test.each([
  ['a normalized address', CALLED, CALLED],
  ['query and fragment', `${CALLED}?q=1#x`, CALLED],
  ['user', 'https://u:p@api.example.com/a/b', CALLED],
  ['default port', 'https://api.example.com:443/a/b', CALLED],
  ['case of scheme and host', 'HTTPS://API.Example.COM/a/b', CALLED],
  ['dot segments, also escaped', 'https://api.example.com/x/../a/%2e/b', CALLED],
  ['backslashes, as fetch reads them', 'https://api.example.com\\a\\b', CALLED],
  ['unnecessary escapes', 'https://api.example.com/%61/%62', CALLED],
  ['case of escapes', 'https://api.example.com/caf%c3%a9', 'https://api.example.com/caf%C3%A9'],
  ['no path', 'https://api.example.com', 'https://api.example.com/'],
  ['an internationalized host name', 'https://ÄPI.example.com/', 'https://xn--pi-uia.example.com/'],
])('an address is normalized: %s', (_name, address, resource) => {
  expect(resourceOf(address)).toBe(resource);
  expect(resourceOf(resource)).toBe(resource);
});

test.each([
  ['another host', 'https://api.example.org/a/b'],
  ['a subdomain', 'https://x.api.example.com/a/b'],
  ['the host as user of another', 'https://api.example.com@evil.example/a/b'],
  ['the host with a dot', 'https://api.example.com./a/b'],
  ['another port', 'https://api.example.com:8443/a/b'],
  ['another scheme', 'http://api.example.com/a/b'],
  ['an additional slash', `${CALLED}/`],
  ['a double slash', 'https://api.example.com/a//b'],
  ['an escaped slash', 'https://api.example.com/a%2Fb'],
  ['an escape of an escape', 'https://api.example.com/a/%2562'],
  ['case of the path', 'https://api.example.com/A/b'],
  ['the path as a parameter', 'https://api.example.com/?/a/b'],
  ['a query', `${CALLED}?`],
  ['a fragment', `${CALLED}#`],
  ['a user', 'https://u@api.example.com/a/b'],
  ['no scheme', '//api.example.com/a/b'],
  ['only the path', '/a/b'],
  ['no text', [CALLED]],
  ['nothing', undefined],
])('another address is not the resource: %s', (_name, claimed) => {
  expect(isResourceOf(CALLED, CALLED)).toBe(true);
  expect(isResourceOf(claimed, CALLED)).toBe(false);
});

test('only http and https addresses have resources', () => {
  for (const address of ['data:,x', 'file:///etc/passwd', 'ftp://a/b', 'x'])
    expect(() => resourceOf(address)).toThrow();
  expect(isResourceOf('data:,x', CALLED)).toBe(false);
});
