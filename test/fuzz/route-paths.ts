import fc from 'fast-check';
import { createRouter, type RouteSettings, routeOf } from '../../gate/src/ground/routes.ts';
import { hold, type Target, target } from './target.ts';

/**
 * What the gate lets pass against how servers read a path. A path that one of them serves for a
 * price must be refused, or be sold for at least that price.
 */

const free = null;
const price = (dollars: number) => ({ price: String(dollars * 1_000_000) });

/** Routes whose servers may read an escaped slash in any way. */
const TABLES: readonly RouteSettings[][] = [
  [{ match: 'GET /report', paid: price(1) }],
  [
    { match: 'GET /v1/report', paid: price(5) },
    { match: '* /v1/**', paid: price(1) },
  ],
  [
    { match: 'GET /files/:id', paid: price(1) },
    { match: 'GET /files/:id/:part', paid: price(5) },
  ],
  [
    { match: 'GET /files/**', paid: price(1) },
    { match: 'GET,POST /models/**', paid: price(5) },
    { match: 'GET /report', paid: price(2) },
  ],
  [
    { match: 'GET /open/**', paid: free },
    { match: 'GET /report/sample', paid: free },
    { match: 'POST /report', paid: free },
    { match: '* /report/**', paid: price(5) },
    { match: '* /**', paid: price(1) },
  ],
  [
    { match: 'GET /Report', paid: free },
    { match: 'GET /report/', paid: price(1) },
    { match: 'GET /café/:x', paid: price(5) },
    { match: 'GET /users/@me', paid: price(5) },
    { match: 'GET /users/:id', paid: price(1) },
  ],
  [
    { match: 'GET /', paid: price(5) },
    { match: 'DELETE /:a', paid: price(1) },
    { match: 'GET /:a/:b/report', paid: price(5) },
    { match: 'GET /:a/**', paid: free },
  ],
];

/** Routes whose servers read it as text. */
const SLASH_TABLES: readonly RouteSettings[][] = [
  [
    { match: 'GET /files/:id', slashIn: 'id', paid: price(1) },
    { match: 'GET /files/:id/report', slashIn: 'id', paid: price(5) },
    { match: 'GET /report', paid: price(5) },
    { match: 'GET /v1/**', paid: free },
  ],
  [
    { match: 'GET /open/:id/**', slashIn: 'id', paid: free },
    { match: '* /**', paid: price(5) },
  ],
];

const WORDS = ['report', 'v1', 'files', 'models', 'open', 'users', '@me', 'caf%C3%A9', 'x', 'sample'];
const ODD = [
  ...['/', '//', '/./', '/../', '.', '..', '%2e', '%2E%2e', '.%2e', '%2f', '%2F', '%5c', '\\', ';', ';a=1'],
  ...['%3b', '%00', '%09', '%20', '+', '%23', '%3f', '%25', '%252e', '%252f', '%252F', '%c0%ae', '%C0%AF'],
  ...['%e2%80%8b', '%C5%BF', '%E2%84%AA', 'e%CC%81', '%C3%89', 'é', '|', '%40', '%C2%85', '%7F', '%', '%zz'],
];

/** Each letter in another case, or escaped. */
const respelled = (word: string, choices: readonly number[]): string =>
  word.replaceAll(/[a-z]/g, (letter, at: number) => {
    const choice = choices[at % choices.length]!;
    if (choice === 0) return letter.toUpperCase();
    return choice === 1 ? `%${letter.charCodeAt(0).toString(16)}` : letter;
  });

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...WORDS), fc.array(fc.nat(9), { minLength: 1, maxLength: 6 }))
      .map(([text, choices]) => respelled(text, choices)),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 3 }).map(encodeURI) },
);
const odd = fc.constantFrom(...ODD);
const part = fc.oneof(
  { weight: 8, arbitrary: word },
  { weight: 2, arbitrary: odd },
  { weight: 1, arbitrary: fc.tuple(word, odd).map((both) => both.join('')) },
  { weight: 1, arbitrary: fc.tuple(odd, word).map((both) => both.join('')) },
);
const anyPath = fc
  .tuple(fc.array(part, { minLength: 1, maxLength: 5 }), fc.constantFrom('', '', '', '/', '//', '/.', '/..'))
  .map(([parts, end]) => `/${parts.join('/')}${end}`);

const tables = [...TABLES, ...SLASH_TABLES];

/** A path of a route, whose names have other texts. */
const pathOf = (match: string, texts: readonly string[]): string =>
  match
    .split(' ')[1]!
    .split('/')
    .map((each, at) => {
      if (each === '**') return texts.slice(0, at % 3).join('/');
      return each === '*' || each.startsWith(':') ? texts[at % texts.length]! : encodeURI(each);
    })
    .join('/');

/** Something odd is put into a path, or in the place of a character. */
const changed = (path: string, { at, text, drops }: { at: number; text: string; drops: boolean }): string => {
  const place = 1 + (at % path.length);
  return path.slice(0, place) + text + path.slice(drops ? place + 1 : place);
};
const change = fc.record({ at: fc.nat(60), text: fc.oneof(odd, word), drops: fc.boolean() });

/** The path of a route with at most two changes. */
const nearPath = (table: readonly RouteSettings[]): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.constantFrom(...table.map(({ match }) => match)),
      fc.array(word, { minLength: 3, maxLength: 3 }),
      fc.array(change, { maxLength: 2 }),
    )
    .map(([match, texts, changes]) => changes.reduce(changed, pathOf(match, texts)));

/** Decodes what can be decoded, as most servers do. */
const decoded = (text: string): string =>
  text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes);
    } catch {
      // Of UTF-8 that is too long, as lenient decoders read it.
      return escapes.replace(/%c0%ae/gi, '.').replace(/%c0%af/gi, '/');
    }
  });

/** RFC 3986, 5.2.4: empty parts count. */
const withoutDots = (path: string): string => {
  const parts: string[] = [];
  const all = path.split('/').slice(1);
  for (const [at, each] of all.entries()) {
    const isLast = at === all.length - 1;
    if (each === '..') parts.pop();
    else if (each !== '.') parts.push(each);
    if (isLast && (each === '.' || each === '..')) parts.push('');
  }
  return `/${parts.join('/')}`;
};
const merged = (path: string): string => path.replaceAll(/\/{2,}/g, '/');
const withoutParameters = (path: string): string => path.replaceAll(/;[^/]*/g, '');
const whatwg = (path: string): string => URL.parse(`http://x${path}`)?.pathname ?? path;

/** The orders in which families of servers read a path. */
const FAMILIES: readonly ((path: string) => string)[] = [
  // Deno, Bun, Next, Hono, Cloudflare: with and without decoding the parts.
  whatwg,
  (path) => decoded(whatwg(path)),
  (path) => merged(decoded(whatwg(path))),
  // Kestrel, Jetty, nginx that does not merge.
  (path) => withoutDots(decoded(path)),
  // nginx, Apache.
  (path) => withoutDots(merged(decoded(path))),
  (path) => merged(withoutDots(decoded(path))),
  (path) => decoded(merged(withoutDots(path))),
  // Tomcat.
  (path) => withoutDots(merged(decoded(withoutParameters(path)).replaceAll('\\', '/'))),
  // Decoded twice, by a proxy and the server behind it.
  (path) => withoutDots(merged(decoded(decoded(path)).replaceAll('\\', '/'))),
  // As sent, and decoded only (Express, Go, WSGI).
  (path) => path,
  decoded,
];

/** What comes after that: where a name ends, letters, and the slash at the end. */
const ENDS: readonly ((path: string) => string)[] = [
  (path) => path,
  (path) => path.split(/[\0?#]/, 1)[0]!,
  (path) => withoutParameters(path),
  // Windows.
  (path) =>
    path
      .split('/')
      .map((each) => each.replace(/[. ]+$/, ''))
      .join('/'),
  (path) =>
    path
      .split('/')
      .map((each) => each.trim())
      .join('/'),
];
type Comparison = { fold: (text: string) => string; endsLoosely: boolean };
const plainly = (text: string) => text;
const COMPARISONS: readonly Comparison[] = [plainly, (text: string) => text.toLowerCase()].flatMap((fold) =>
  [false, true].map((endsLoosely) => ({ fold, endsLoosely })),
);
const WIDE: Comparison = {
  fold: (text) =>
    text
      .normalize('NFD')
      .replaceAll(/\p{M}|\p{Cf}/gu, '')
      .toUpperCase(),
  endsLoosely: true,
};

/** In servers that keep it. No path contains this letter. */
const KEPT = '\u{E000}';
const waysToRead = (path: string, keepsSlash: boolean): string[] => {
  const text = keepsSlash ? path.replaceAll(/%2f/gi, KEPT) : path;
  const read = new Set(FAMILIES.map((family) => family(text)));
  return [...new Set([...read].flatMap((each) => ENDS.map((end) => end(each))))];
};

/** Whether a server finds a route for what it has read. Without the patterns of the gate. */
const finds = (match: string, read: string, { fold, endsLoosely }: Comparison): boolean => {
  const ended = (path: string) => (endsLoosely ? path.replace(/\/$/, '') : path);
  const parts = ended(match.split(' ')[1]!).split('/').slice(1);
  const given = ended(read).split('/').slice(1);
  const isRest = parts.at(-1) === '**';
  if (isRest) parts.pop();
  if (isRest ? given.length < parts.length : given.length !== parts.length) return false;
  return parts.every((each, at) => {
    const text = given[at]!;
    if (each === '*' || each.startsWith(':')) return text !== '';
    return fold(each) === fold(text) || fold(encodeURI(each)) === fold(text);
  });
};

const allows = (match: string, method: string): boolean => {
  const names = match.split(' ')[0]!.split(',');
  if (names[0] === '*') return method !== 'OPTIONS';
  return names.includes(method) || (method === 'HEAD' && names.includes('GET'));
};

const amountOf = (route: RouteSettings | null): number => Number(route?.paid?.price ?? 0);

/** What a server serves by one reading, and the highest price of it. */
const dearest = (
  table: readonly RouteSettings[],
  methods: readonly string[],
  path: string,
  keepsSlash: boolean,
): number => {
  let most = 0;
  for (const read of waysToRead(path, keepsSlash))
    for (const comparison of [...COMPARISONS, WIDE])
      for (const method of methods) {
        const served = table.find(({ match }) => allows(match, method) && finds(match, read, comparison));
        most = Math.max(most, amountOf(served ?? null));
      }
  return most;
};

const METHODS = ['GET', 'GET', 'GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'QUERY'];
/** For a server that ignores methods. */
const ANY = ['GET', 'POST', 'DELETE'];

const cases = fc.nat(tables.length - 1).chain((at) =>
  fc.record({
    at: fc.constant(at),
    path: fc.oneof({ weight: 3, arbitrary: nearPath(tables[at]!) }, { weight: 1, arbitrary: anyPath }),
    method: fc.constantFrom(...METHODS),
    passesUnmatched: fc.boolean(),
  }),
);
type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never;

const routers = tables.map((table) =>
  [true, false].map((passes) => createRouter(table.map(routeOf), passes)),
);

const check = ({ path, at, method, passesUnmatched }: Case): void => {
  const table = tables[at]!;
  const found = routers[at]![passesUnmatched ? 0 : 1]!({ method, path, isPreflight: false });
  if (found.kind === 'refused') return;
  // Without a route of its own, a server may serve it as another method.
  const methods = found.route === null ? ANY : [method];
  const most = dearest(table, methods, path, at >= TABLES.length);
  const passes = found.route?.match ?? 'without a route';
  hold(
    amountOf(found.route) >= most,
    `${method} ${path} passes ${passes}, and a server sells it for ${most}`,
  );
};

export const routeTargets = (): Target[] => [{ ...target('paths of a gate', cases, check), times: 50 }];
