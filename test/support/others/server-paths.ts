import { PUBLIC_URL } from '../stand-ins/vendor-api.ts';

/** Targets that a server could take for the path of a product (server-forms.ts). */

export const HOST = new URL(PUBLIC_URL).host;

/** Paths of products: a plain one, one beside a cheap catch-all, and one that is dear. */
export const PRODUCTS = ['/report', '/v1/report', '/models/big'] as const;

const capital = (path: string): string => path.replace(/[a-z]/, (letter) => letter.toUpperCase());
const lastLetter = (path: string, as: (letter: string) => string): string =>
  path.replace(/.$/, (letter) => as(letter));
const hex = (letter: string): string => letter.charCodeAt(0).toString(16);
const lastSlash = (path: string, as: string): string => path.replace(/\/(?=[^/]*$)/, as);

/** Other spellings of a path. */
export const SPELLINGS: Record<string, (path: string) => string> = {
  plain: (path) => path,
  'a slash behind': (path) => `${path}/`,
  'two slashes behind': (path) => `${path}//`,
  'an escaped slash behind': (path) => `${path}%2f`,
  'two slashes before': (path) => `/${path}`,
  'three slashes before': (path) => `//${path}`,
  'two slashes within': (path) => lastSlash(path, '//'),
  'an escaped slash within': (path) => lastSlash(path, '%2f'),
  'a twice escaped slash within': (path) => lastSlash(path, '%252f'),
  'a backslash within': (path) => lastSlash(path, '\\'),
  'an escaped backslash within': (path) => lastSlash(path, '%5c'),
  'an overlong slash within': (path) => lastSlash(path, '%c0%af'),
  'a dot before': (path) => `/.${path}`,
  'a dot behind': (path) => `${path}/.`,
  'an escaped dot behind': (path) => `${path}/%2e`,
  'down and up': (path) => `${path}/x/..`,
  'down and up, escaped': (path) => `${path}/x/%2e%2e`,
  'a slash, and up': (path) => `${path}//..`,
  'a slash, and up, escaped': (path) => `${path}//%2e%2e`,
  'a parameter': (path) => `${path};x`,
  'a parameter with a value': (path) => `${path};x=1`,
  'an empty parameter': (path) => `${path};`,
  'an escaped semicolon': (path) => `${path}%3bx`,
  'a parameter before': (path) => `/;x${path}`,
  'a parameter within': (path) => lastSlash(path, ';x/'),
  'a parameter, and up from another': (path) => `${path};x/%3bfoo/%2e%2e`,
  'a file in a parameter': (path) => `${path};/../x`,
  'an end by NUL': (path) => `${path}%00`,
  'an end by NUL, and more': (path) => `${path}%00.html`,
  'a raw NUL': (path) => `${path}\0`,
  'a full stop behind': (path) => `${path}.`,
  'an escaped full stop behind': (path) => `${path}%2e`,
  'a blank behind': (path) => `${path}%20`,
  'a tab behind': (path) => `${path}%09`,
  'a line feed behind': (path) => `${path}%0a`,
  'a carriage return behind': (path) => `${path}%0d%0a`,
  'an escaped question mark': (path) => `${path}%3fx`,
  'an escaped fragment': (path) => `${path}%23x`,
  'a fragment': (path) => `${path}#x`,
  'a query': (path) => `${path}?x=1`,
  'two question marks': (path) => `${path}??`,
  'an escaped letter': (path) => lastLetter(path, (letter) => `%${hex(letter)}`),
  'a twice escaped letter': (path) => lastLetter(path, (letter) => `%25${hex(letter)}`),
  'a thrice escaped letter': (path) => lastLetter(path, (letter) => `%2525${hex(letter)}`),
  'a letter in two escaped bytes': (path) =>
    lastLetter(path, (letter) => `%c1%${(letter.charCodeAt(0) + 0x40).toString(16)}`),
  'a letter in raw overlong bytes': (path) =>
    lastLetter(path, (letter) => `\xc1${String.fromCharCode(letter.charCodeAt(0) + 0x40)}`),
  'a letter by %u': (path) => lastLetter(path, (letter) => `%u00${hex(letter)}`),
  'a full-width letter': (path) =>
    lastLetter(path, (letter) => `%ef%bd%${(letter.charCodeAt(0) + 0x20).toString(16)}`),
  'half an escape': (path) => `${path}%`,
  'an escape of no number': (path) => `${path}%zz`,
  'all escaped': (path) => path.replaceAll(/[a-z]/g, (letter) => `%${hex(letter)}`),
  'large letters': (path) => path.toUpperCase(),
  'a capital': capital,
  'a capital, and a slash behind': (path) => `${capital(path)}/`,
  'a format behind': (path) => `${path}.json`,
  'no slash before': (path) => path.slice(1),
  'a backslash before': (path) => `\\${path.slice(1)}`,
  'a blank before': (path) => `/%20${path}`,
  'an absolute form': (path) => `http://${HOST}${path}`,
  'an absolute form with two slashes': (path) => `http://${HOST}/${path}`,
  'an absolute form in large letters': (path) => `HTTP://${HOST.toUpperCase()}${path}`,
  'an absolute form with a port': (path) => `http://${HOST}:80${path}`,
  'an absolute form with a user': (path) => `http://free@${HOST}${path}`,
  'an absolute form of another host': (path) => `http://admin.internal${path}`,
  'an absolute form without slashes': (path) => `http:${path}`,
  'an absolute form with a backslash': (path) => `http://${HOST}\\..${path}`,
  'an absolute form of another scheme': (path) => `ftp://${HOST}${path}`,
  'two slashes and the host': (path) => `//${HOST}${path}`,
};

/** Where a climb begins, and the rest of a product's path behind it. */
export const STARTS = [
  ['/x', 'report'],
  ['/free', 'report'],
  ['/files', 'models/big'],
  ['/v1/x', 'report'],
] as const;

/** One step up, with the slashes around it. */
export const CLIMBS = [
  ...['/../', '/%2e%2e/', '/.%2e/', '/%2E./', '//../', '/..//', '/.//../', '/x/../../'],
  ...['/..%2f', '/%2e%2e%2f', '/..%2F', '%2f..%2f', '%2f../', '/..%2f/', '/x%2f../../', '/x%2fy/%2e%2e/../'],
  ...['/..%5c', '/..\\', '\\..\\', '%5c..%5c', '/x%5cy/%2e%2e/../', '/%2e%2e%5c'],
  ...['/..;/', '/..;x=1/', '/%2e%2e;/', '/;/../', ';/../', '/;x/..;y/../', '/..%3b/', '/.;/../'],
  ...['/%252e%252e/', '/..%252f', '/%252e%252e%252f', '/..%255c', '/%25252e%25252e/'],
  ...[
    '/..%c0%af',
    '/%c0%ae%c0%ae/',
    '/..%c1%9c',
    '/..%e0%80%af',
    '/%e0%80%ae%e0%80%ae/',
    '/\xc0\xae\xc0\xae/',
  ],
  ...[
    '/..%00/',
    '/.%00./',
    '/..%20/',
    '/.. /',
    '/..%09/',
    '/..%0d/',
    '/..%ff/',
    '/..%u2215',
    '/%u002e%u002e/',
  ],
  ...['/..?/../', '/..%3f/../', '/..#/../', '/..%23/../', '/.../', '/..../', '/.\\../'],
] as const;
