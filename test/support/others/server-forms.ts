import { CLIMBS, HOST, PRODUCTS, SPELLINGS, STARTS } from './server-paths.ts';

/**
 * The forms of requests that every server gets through the gate: the one list of spellings,
 * methods, names, upgrades and framings. What a server could take for a priced request is in it.
 * A form is text in Latin-1, so that each letter is one byte.
 */
export type Form = {
  family: string;
  name: string;
  /** `{payment}` is where the headers of a payment go. Without it the form is not paid. */
  text: string;
  /** It lacks bytes, so a server may wait for them without an answer. */
  waits?: true;
};

const END = 'Connection: close\r\n';

/** One request, whose connection ends with its answer. */
const request = (target: string, method = 'GET', more = '', body = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: ${HOST}\r\n{payment}${more}${END}\r\n${body}`;

/** A request that a body hides. */
const HIDDEN = `GET /report?slow HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`;
const length = (text: string): string => `Content-Length: ${text.length}\r\n`;

const spellings = (): Form[] =>
  PRODUCTS.flatMap((path) =>
    Object.entries(SPELLINGS).map(([name, spell]) => ({
      family: 'spelling',
      name: `${path}: ${name}`,
      text: request(spell(path)),
    })),
  );

const climbs = (): Form[] =>
  STARTS.flatMap(([start, rest]) =>
    CLIMBS.map((by) => `${start}${by}${rest}`).map((target) => ({
      family: 'climb',
      name: JSON.stringify(target).slice(1, -1),
      text: request(target),
    })),
  );

const METHODS = (
  'HEAD POST PUT PATCH DELETE OPTIONS TRACE QUERY PROPFIND REPORT SEARCH M-SEARCH ' +
  'LINK LOCK COPY MOVE MERGE PURGE SOURCE CONNECT get GETX PRI'
).split(' ');
const PREFLIGHT = 'Origin: https://elsewhere.example\r\nAccess-Control-Request-Method: GET\r\n';

const methods = (): Form[] => [
  ...METHODS.flatMap((method) =>
    ['/report', '/v1/report', '/items/1'].map((path) => ({
      family: 'method',
      name: `${method} ${path}`,
      text: request(path, method, /^(P|Q|M|L|REP)/.test(method) ? length('') : ''),
    })),
  ),
  { family: 'method', name: 'a preflight', text: request('/report', 'OPTIONS', PREFLIGHT) },
  {
    family: 'method',
    name: 'a preflight to the dear one',
    text: request('/v1/report', 'OPTIONS', PREFLIGHT),
  },
  { family: 'method', name: 'GET *', text: request('*') },
  { family: 'method', name: 'OPTIONS *', text: request('*', 'OPTIONS') },
  { family: 'method', name: 'OPTIONS /*', text: request('/*', 'OPTIONS') },
  { family: 'method', name: 'CONNECT to a host', text: request(`${HOST}:80`, 'CONNECT') },
  { family: 'method', name: 'PUT /items/1, asked for', text: request('/items/1', 'PUT', length('x'), 'x') },
  {
    family: 'method',
    name: 'POST with _method=PUT',
    text: request(
      '/items/1',
      'POST',
      `Content-Type: application/x-www-form-urlencoded\r\n${length('_method=PUT')}`,
      '_method=PUT',
    ),
  },
  {
    family: 'method',
    name: '_method=PUT in the query',
    text: request('/items/1?_method=PUT', 'POST', length('')),
  },
];

/** Headers that replace a path, a method or a host in some servers, by all their names. */
const NAMES_OF_PATHS = [
  ...['X-Original-URL', 'X-Original-Uri', 'X-Rewrite-URL', 'X-Forwarded-Uri', 'X-Forwarded-Path'],
  ...['X-Forwarded-Prefix', 'X-Envoy-Original-Path', 'X-Matched-Path', 'X-Original-Path', 'X-Accel-Redirect'],
  ...['X_Original_URL', 'X.Original.URL', 'x-original_url', 'X-Waws-Unencoded-URL', 'X-Sendfile'],
  ...['X-Original-Request-Uri', 'Request-Uri', 'X-Invoke-Path', 'Base-Url', 'Referer', 'Destination'],
];
const NAMES_OF_METHODS = [
  ...['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override', 'X-Original-Method'],
  ...['X-Forwarded-Method', 'X_HTTP_Method_Override', 'X.HTTP.Method.Override'],
];
const NAMES_OF_HOSTS = ['X-Forwarded-Host', 'X-Host', 'X-Original-Host', 'Forwarded', 'X-Forwarded-Server'];

const hosts = (lines: string, target = '/free/0'): string => `GET ${target} HTTP/1.1\r\n${lines}${END}\r\n`;

const names = (): Form[] => [
  ...NAMES_OF_PATHS.map((name) => ({
    family: 'name',
    name,
    text: request('/free/0', 'GET', `${name}: /report\r\n`),
  })),
  ...NAMES_OF_PATHS.map((name) => ({
    family: 'name',
    name: `${name} from the cheap one`,
    text: request('/v1/other', 'GET', `${name}: /v1/report\r\n`),
  })),
  ...NAMES_OF_METHODS.map((name) => ({
    family: 'name',
    name,
    text: request('/items/1', 'POST', `${name}: PUT\r\n${length('')}`),
  })),
  ...NAMES_OF_HOSTS.map((name) => ({
    family: 'name',
    name,
    text: request('/free/0', 'GET', `${name}: ${name === 'Forwarded' ? 'host=' : ''}admin.internal\r\n`),
  })),
  { family: 'name', name: 'another host', text: hosts('Host: admin.internal\r\n', '/') },
  { family: 'name', name: 'two hosts', text: hosts(`Host: ${HOST}\r\nHost: admin.internal\r\n`, '/') },
  {
    family: 'name',
    name: 'two hosts, the other first',
    text: hosts(`Host: admin.internal\r\nHost: ${HOST}\r\n`, '/'),
  },
  { family: 'name', name: 'two hosts in one', text: hosts(`Host: ${HOST}, admin.internal\r\n`, '/') },
  { family: 'name', name: 'a host with a path', text: hosts(`Host: ${HOST}/report\r\n`, '/') },
  { family: 'name', name: 'a host with a path and a query', text: hosts(`Host: ${HOST}/report?\r\n`, '/') },
  { family: 'name', name: 'a host with a user', text: hosts(`Host: ${HOST}@admin.internal\r\n`, '/') },
  { family: 'name', name: 'a host with a full stop', text: hosts('Host: admin.internal.\r\n', '/') },
  { family: 'name', name: 'an empty host', text: hosts('Host:\r\n', '/report') },
  { family: 'name', name: 'no host', text: hosts('', '/report') },
  {
    family: 'name',
    name: 'the host in an absolute form',
    text: hosts(`Host: ${HOST}\r\n`, 'http://admin.internal/'),
  },
  {
    family: 'name',
    name: 'the host behind an absolute form',
    text: hosts('Host: admin.internal\r\n', `http://${HOST}/`),
  },
  { family: 'name', name: 'HTTP/1.0', text: `GET /report HTTP/1.0\r\nHost: ${HOST}\r\n{payment}\r\n` },
  { family: 'name', name: 'HTTP/1.0 without a host', text: 'GET /report HTTP/1.0\r\n\r\n' },
  { family: 'name', name: 'HTTP/0.9', text: 'GET /report\r\n', waits: true },
  { family: 'name', name: 'HTTP/1.2', text: `GET /report HTTP/1.2\r\nHost: ${HOST}\r\n${END}\r\n` },
  { family: 'name', name: 'a range', text: request('/report', 'GET', 'Range: bytes=0-3\r\n') },
  {
    family: 'name',
    name: 'forged headers of the gate',
    text: request(
      '/report',
      'GET',
      'Quittance-Settlement: stl_x\r\nQuittance_Amount: 9\r\nQuittance.Payer: x\r\n',
    ),
  },
  ...[97, 98, 100, 120].map((count) => ({
    family: 'name',
    name: `${count} more headers`,
    text: request('/report', 'GET', Array.from({ length: count }, (_, at) => `A${at}: b\r\n`).join('')),
  })),
];

/** A frame of HTTP/2 with a GET, in literals without Huffman (RFC 7541, 6.2.2). */
const frameOf = (stream: number, target: string): string => {
  const literal = (index: number, text: string) => String.fromCharCode(index, text.length) + text;
  const block = `\x82\x86${literal(4, target)}${literal(1, HOST)}`;
  return `\0\0${String.fromCharCode(block.length)}\x01\x05\0\0\0${String.fromCharCode(stream)}${block}`;
};
/** Two requests in HTTP/2, which need no answer in between. */
export const HTTP2 = `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0${frameOf(3, '/report')}${frameOf(5, '/v1/report')}`;

const KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n';
const UPGRADES: Record<string, string> = {
  x: 'Connection: Upgrade\r\nUpgrade: x\r\n',
  'x, and it closes': 'Connection: Upgrade, close\r\nUpgrade: x\r\n',
  h2c: 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n',
  'h2c without settings': 'Connection: Upgrade\r\nUpgrade: h2c\r\n',
  'h2c with settings that are not nominated':
    'Connection: Upgrade\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n',
  'h2c by another name of its settings':
    'Connection: Upgrade, HTTP2_Settings\r\nUpgrade: h2c\r\nHTTP2_Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n',
  'h2c after websocket': `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: websocket, h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n${KEY}`,
  'two of them': `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: websocket\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n${KEY}`,
  'TLS/1.0': 'Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n',
  'a WebSocket': `Connection: Upgrade\r\nUpgrade: websocket\r\n${KEY}`,
  'a WebSocket without a key': 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n',
  'a WebSocket of a wrong version':
    'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 9\r\n',
  'a WebSocket that no Connection names': `Upgrade: websocket\r\n${KEY}`,
};

const upgrade = (target: string, method: string, lines: string, body = ''): string =>
  `${method} ${target} HTTP/1.1\r\nHost: ${HOST}\r\n{payment}${lines}\r\n${body}`;

const upgrades = (): Form[] => [
  ...Object.entries(UPGRADES).flatMap(([name, lines]) =>
    (
      [
        ['GET', '/report'],
        ['GET', '/v1/report'],
        ['GET', '/free/0'],
        ['OPTIONS', '/report'],
        ['OPTIONS', '*'],
      ] as const
    ).map(([method, target]) => ({
      family: 'upgrade',
      name: `${method} ${target}: ${name}`,
      text: upgrade(target, method, lines),
    })),
  ),
  ...['x', 'a WebSocket'].map((name) => ({
    family: 'upgrade',
    name: `POST with a body: ${name}`,
    text: upgrade('/free/0', 'POST', UPGRADES[name]! + length(HIDDEN), HIDDEN),
  })),
  ...['x', 'a WebSocket'].map((name) => ({
    family: 'upgrade',
    name: `GET and a request at once: ${name}`,
    text: upgrade('/free/0', 'GET', UPGRADES[name]!, HIDDEN),
  })),
  {
    family: 'upgrade',
    name: 'HTTP/2 without an upgrade',
    text: HTTP2,
    waits: true,
  },
];

/** A body that is a request, with lengths and codings that servers read in two ways. */
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
const FRAMINGS: Record<string, [lines: string, body: string]> = {
  'a length': [length(HIDDEN), HIDDEN],
  'a chunk': [CHUNKED, chunk(HIDDEN)],
  'a length of zero': [length(''), HIDDEN],
  'no length': ['', HIDDEN],
  'a length, expected': [`${length(HIDDEN)}Expect: 100-continue\r\n`, HIDDEN],
  'an unknown expectation': [`${length(HIDDEN)}Expect: x\r\n`, HIDDEN],
  'length and coding': [`Content-Length: 5\r\n${CHUNKED}`, `0\r\n\r\n${HIDDEN}`],
  'coding and length': [`${CHUNKED}Content-Length: 5\r\n`, `0\r\n\r\n${HIDDEN}`],
  'length of all, and coding': [`Content-Length: ${HIDDEN.length + 5}\r\n${CHUNKED}`, `0\r\n\r\n${HIDDEN}`],
  'two lengths': [`Content-Length: 0\r\n${length(HIDDEN)}`, HIDDEN],
  'two equal lengths': [length(HIDDEN) + length(HIDDEN), HIDDEN],
  'a list of lengths': [`Content-Length: 0, ${HIDDEN.length}\r\n`, HIDDEN],
  'a length with a plus': ['Content-Length: +0\r\n', HIDDEN],
  'a negative length': ['Content-Length: -1\r\n', HIDDEN],
  'a length with a blank': ['Content-Length : 0\r\n', HIDDEN],
  'a length in hex': ['Content-Length: 0x0\r\n', HIDDEN],
  'a length by _': [`Content_Length: ${HIDDEN.length}\r\n`, HIDDEN],
  'two codings': [`${CHUNKED}Transfer-Encoding: identity\r\n`, `0\r\n\r\n${HIDDEN}`],
  'an unknown coding': ['Transfer-Encoding: xchunked\r\n', `0\r\n\r\n${HIDDEN}`],
  'gzip, chunked': ['Transfer-Encoding: gzip, chunked\r\n', `0\r\n\r\n${HIDDEN}`],
  'chunked, gzip': ['Transfer-Encoding: chunked, gzip\r\n', `0\r\n\r\n${HIDDEN}`],
  'chunked, identity': ['Transfer-Encoding: chunked, identity\r\n', `0\r\n\r\n${HIDDEN}`],
  'a coding in quotes': ['Transfer-Encoding: "chunked"\r\n', `0\r\n\r\n${HIDDEN}`],
  'a coding in large letters': ['Transfer-Encoding: CHUNKED\r\n', chunk(HIDDEN)],
  'a coding after a vertical tab': [
    `Transfer-Encoding: \x0bchunked\r\nContent-Length: 5\r\n`,
    `0\r\n\r\n${HIDDEN}`,
  ],
  'a coding before a colon with a blank': [
    `Transfer-Encoding : chunked\r\nContent-Length: 5\r\n`,
    `0\r\n\r\n${HIDDEN}`,
  ],
  'a coding by _': [`Transfer_Encoding: chunked\r\n${length(HIDDEN)}`, HIDDEN],
  'a folded coding': ['Transfer-Encoding:\r\n chunked\r\n', `0\r\n\r\n${HIDDEN}`],
  'a coding after a line feed': [
    `A: b\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n`,
    `0\r\n\r\n${HIDDEN}`,
  ],
  'a coding after a carriage return': [`A: b\rTransfer-Encoding: chunked\r\n${length(HIDDEN)}`, HIDDEN],
  'an extension with a line feed': [CHUNKED, `2;a\nxx\r\n0\r\n\r\n${HIDDEN}`],
  'a size in 0x': [CHUNKED, `0x2\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  'a size with a blank': [CHUNKED, `2 \r\nab\r\n0\r\n\r\n${HIDDEN}`],
  'a size that wraps': [CHUNKED, `10000000000000002\r\nab\r\n0\r\n\r\n${HIDDEN}`],
  'line feeds only': [CHUNKED, `2\nab\n0\n\n${HIDDEN}`],
  'a wrong end of a chunk': [CHUNKED, `2\r\nabXX0\r\n\r\n${HIDDEN}`],
  trailers: [
    `${CHUNKED}Trailer: X-Original-URL\r\n`,
    '0\r\nX-Original-URL: /report\r\nContent-Length: 9\r\n\r\n',
  ],
  'a nominated length': [`Connection: Content-Length\r\n${length(HIDDEN)}`, HIDDEN],
  'a nominated coding': [`Connection: Transfer-Encoding\r\n${CHUNKED}`, chunk(HIDDEN)],
  'a nominated host': [`Connection: Host\r\n${length(HIDDEN)}`, HIDDEN],
};

/** Framings of bodies, each on methods with and without a body by custom. */
const framings = (): Form[] => [
  ...Object.entries(FRAMINGS).flatMap(([name, [lines, body]]) =>
    ['GET', 'POST', 'HEAD', 'OPTIONS'].map((method) => ({
      family: 'framing',
      name: `${method} with ${name}`,
      text: `${method} /free/0 HTTP/1.1\r\nHost: ${HOST}\r\n${lines}\r\n${body}`,
    })),
  ),
  {
    family: 'framing',
    name: 'a paid GET with a body',
    text: request('/report', 'GET', length(HIDDEN), HIDDEN),
  },
  {
    family: 'framing',
    name: 'a body that does not come',
    text: `POST /free/0 HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 5000\r\n\r\n${HIDDEN}`,
    waits: true,
  },
  {
    family: 'framing',
    name: 'pipelined',
    text: `GET /free/0 HTTP/1.1\r\nHost: ${HOST}\r\n\r\n${request('/report').replace('{payment}', '')}`,
  },
  {
    family: 'framing',
    name: 'pipelined after a refusal',
    text: `GET /report HTTP/1.1\r\nHost: ${HOST}\r\n\r\n${request('/v1/report').replace('{payment}', '')}`,
  },
  {
    family: 'framing',
    name: 'pipelined after a paid one',
    text: `GET /report HTTP/1.1\r\nHost: ${HOST}\r\n{payment}\r\n${request('/v1/report').replace('{payment}', '')}`,
  },
  {
    family: 'framing',
    name: 'a line feed within a target',
    text: `GET /free/0\nGET /report HTTP/1.1\r\nHost: ${HOST}\r\n\r\n`,
  },
  { family: 'framing', name: 'a blank within a target', text: request('/free/0 HTTP/1.1 /report') },
  { family: 'framing', name: 'a tab within a target', text: request('/report\tx') },
  { family: 'framing', name: 'two blanks', text: request(' /report') },
  { family: 'framing', name: 'line feeds only', text: `GET /report HTTP/1.1\nHost: ${HOST}\n\n` },
  { family: 'framing', name: 'empty lines before', text: `\r\n\r\n${request('/report')}` },
];

export const FORMS: readonly Form[] = [
  ...spellings(),
  ...climbs(),
  ...methods(),
  ...names(),
  ...upgrades(),
  ...framings(),
];
