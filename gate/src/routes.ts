import type { IncomingMessage } from 'node:http';
import type { PaidRoute } from '../../sdk/src/vendor/route.ts';
import type { AnswerPrice } from './metered.ts';

/** The first calls of a caller to a priced route pass unpaid, in each window. */
export type FreeQuota = {
  calls: number;
  /** In UTC. */
  per: 'hour' | 'day' | 'month';
  /** The header that names the caller. Null: the address is the caller. */
  by: string | null;
};

/** What a route declares: `GET,POST /reports/:city`, and its price. */
export type RouteSettings = {
  match: string;
  /** Null: it is free. */
  paid: PaidRoute<IncomingMessage> | null;
  /** Only of a metered route. */
  answerPrice?: AnswerPrice;
  /** Only of a priced route. */
  free?: FreeQuota;
};
export type Route = RouteSettings & {
  methods: ReadonlySet<string> | null;
  strict: RegExp;
  /** Also in other letters, because many servers do not distinguish them. */
  loose: RegExp;
};

const MATCH = /^([A-Z]+(?:,[A-Z]+)*|\*) (\/\S*)$/;
const SEGMENT = /^(?::[A-Za-z_]\w*|\*|\*\*|[^*:?#[\]{}|\\%]*)$/;

/** What is wrong with a match, or null. */
export const matchFault = (match: string): string | null => {
  const [, , path] = MATCH.exec(match) ?? [];
  if (path === undefined)
    return "use methods and a path, like 'GET /report', 'GET,POST /report' or '* /api/**'";
  const segments = path.split('/').slice(1);
  const wrong = segments.find((segment) => !SEGMENT.test(segment));
  if (wrong !== undefined)
    return `'${wrong}' is no part of a path: use text, :name or * for one part, and ** for all that follow`;
  if (segments.slice(0, -1).includes('**'))
    return '** stands for all that follows, so it must be the last part';
  return null;
};

const escaped = (text: string): string => text.replaceAll(/[.+^$()]/g, '\\$&');

const patternOf = (path: string): string => {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) =>
      part === '**'
        ? '(?:/.*)?'
        : part === '*' || part.startsWith(':')
          ? '/[^/]+'
          : `/${escaped(encodeURI(part))}`,
    );
  return `^${parts.join('')}$`;
};

/**
 * A route of settings.
 * @throws TypeError if the match has a fault
 */
export const routeOf = (settings: RouteSettings): Route => {
  const fault = matchFault(settings.match);
  if (fault !== null) throw new TypeError(`match: ${fault}`);
  const [, methods, path] = MATCH.exec(settings.match)!;
  const pattern = patternOf(path!);
  return {
    ...settings,
    methods: methods === '*' ? null : new Set(methods!.split(',')),
    strict: new RegExp(pattern),
    loose: new RegExp(pattern, 'i'),
  };
};

/**
 * A preflight is never charged, so it passes unless a route names it. HEAD is the same request as
 * GET without its body.
 */
const hasMethod = ({ methods }: Route, method: string): boolean => {
  if (methods === null) return method !== 'OPTIONS';
  return methods.has(method) || (method === 'HEAD' && methods.has('GET'));
};

/** A path that every server reads in the same way. */
const PLAIN = /^(?:\/[a-z0-9_~-][a-z0-9_.~-]*)+$|^\/$/;
const MOST_DECODINGS = 3;

const decoded = (path: string): string =>
  path.replaceAll(/%[0-9a-f]{2}/gi, (each) => {
    const code = Number.parseInt(each.slice(1), 16);
    // Longer characters are compared as they were sent: no pattern can contain half of one.
    return code < 0x80 ? String.fromCharCode(code) : each.toLowerCase();
  });

const normalised = (path: string): string => {
  const parts: string[] = [];
  for (const part of path.replaceAll('\\', '/').split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
};

/**
 * How servers may read a path: encoded once or twice, with dots, repeated slashes, parameters
 * behind a semicolon, or an early end. A path that one of them serves for a price must not be free.
 */
export const spellingsOf = (path: string): readonly string[] => {
  if (PLAIN.test(path)) return [path];
  const spellings = new Set<string>();
  let text = path;
  for (let times = 0; times <= MOST_DECODINGS; times += 1) {
    spellings.add(text);
    spellings.add(normalised(text));
    spellings.add(normalised(text.replaceAll(/;[^/]*/g, '')));
    const [before] = text.split(/[\0?#]/, 1) as [string];
    spellings.add(normalised(before));
    const next = decoded(text);
    if (next === text) break;
    text = next;
  }
  return [...spellings];
};

/**
 * True if every reading of a path leads to this route. Otherwise a server could answer a free call
 * to this route with the resource of a dearer one.
 */
export const leadsOnlyTo = (routes: readonly Route[], route: Route, method: string, path: string): boolean =>
  spellingsOf(path).every(
    (spelling) => routes.find((each) => hasMethod(each, method) && each.loose.test(spelling)) === route,
  );

/**
 * Finds the route of a request: the first whose method and path match. A request is free only if it
 * is free by every reading of its path.
 * @returns null if no route matches
 */
export const createRouter = (routes: readonly Route[]) => {
  /** By method. Node's parser knows a fixed list of them. */
  const byMethod = new Map<string, readonly Route[]>();
  const ableTo = (method: string): readonly Route[] => {
    const known = byMethod.get(method);
    if (known !== undefined) return known;
    const able = routes.filter((route) => hasMethod(route, method));
    byMethod.set(method, able);
    return able;
  };
  return (method: string, path: string): Route | null => {
    const able = ableTo(method);
    if (able.length === 0) return null;
    const strict = able.find((route) => route.strict.test(path)) ?? null;
    if (strict?.paid != null) return strict;
    for (const spelling of spellingsOf(path)) {
      const loose = able.find((route) => route.loose.test(spelling));
      if (loose?.paid != null) return loose;
    }
    return strict;
  };
};
export type Router = ReturnType<typeof createRouter>;
