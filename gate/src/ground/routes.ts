import type { IncomingMessage } from 'node:http';
import { ESCAPED_SLASH, readPath } from '../../../sdk/src/paywall/adapter.ts';
import type { PaidRoute } from '../../../sdk/src/paywall/main.ts';
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
  /** The name of the part in which the upstream reads `%2F` as text: `id`. */
  slashIn?: string;
  /** Null: it is free. */
  paid: PaidRoute<IncomingMessage> | null;
  /** Only of a metered route. */
  answerPrice?: AnswerPrice;
  /** Only of a priced route. */
  free?: FreeQuota;
};
export type Route = RouteSettings & {
  /** Null: all. */
  methods: ReadonlySet<string> | null;
  /** For a path as it was sent. */
  strict: RegExp;
  /** For a path in the form of `loosened`. */
  loose: RegExp;
};

const MATCH = /^([A-Z]+(?:,[A-Z]+)*|\*) (\/\S*)$/;
const SEGMENT = /^(?::[A-Za-z_]\w*|\*|\*\*|[^*:?#[\]{}|\\%]*)$/;

const isName = (part: string): boolean => part === '*' || part.startsWith(':');

/** What is wrong with a match, or null. */
export const matchFault = (match: string): string | null => {
  const [, , path] = MATCH.exec(match) ?? [];
  const [, small, rest] = /^([a-z]+(?:,[a-z]+)*) (\/\S*)$/i.exec(match) ?? [];
  if (path === undefined && small !== undefined)
    return `write methods in capital letters: '${small.toUpperCase()} ${rest}'`;
  if (path === undefined)
    return "use methods and a path, like 'GET /report', 'GET,POST /report' or '* /api/**'";
  const segments = path.split('/').slice(1);
  const wrong = segments.find((segment) => !SEGMENT.test(segment));
  if (wrong !== undefined)
    return `'${wrong}' is no part of a path: use text, :name or * for one part, and ** for all that follow`;
  if (segments.slice(0, -1).includes('**'))
    return '** stands for all that follows, so it must be the last part';
  const sample = segments.map((segment) => (isName(segment) || segment === '**' ? 'x' : encodeURI(segment)));
  return readPath(`/${sample.join('/')}`) === null
    ? 'no request has this path: parts are not empty, end with no dot, and have no semicolon'
    : null;
};

/** What is wrong with the name of the part that may contain `%2F`, or null. */
export const slashInFault = (match: string, slashIn: string | undefined): string | null =>
  slashIn === undefined || match.split('/').includes(`:${slashIn}`)
    ? null
    : `name a part of the path, like id for '/projects/:id'`;

/**
 * The form in which a path is compared as widely as servers do: without case and accents of its
 * letters, without characters that nobody sees, and without a slash at the end.
 */
const loosened = (decoded: string): string =>
  decoded
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]|\p{Default_Ignorable_Code_Point}/gu, '')
    .toUpperCase()
    .toLowerCase()
    .replace(/\/$/, '');

const escaped = (text: string): string => text.replaceAll(/[.+^$()]/g, '\\$&');

const patternOf = (path: string, slashIn: string | undefined, textOf: (part: string) => string): RegExp => {
  const parts = path
    .split('/')
    .slice(1)
    .map((part) => {
      if (part === '**') return `(?:/[^${ESCAPED_SLASH}]*)?`;
      if (isName(part)) return part === `:${slashIn}` ? '/[^/]+' : `/[^/${ESCAPED_SLASH}]+`;
      return `/${escaped(textOf(part))}`;
    });
  return new RegExp(`^${parts.join('')}$`);
};

/**
 * A route of settings.
 * @throws TypeError if the match has a fault
 */
export const routeOf = (settings: RouteSettings): Route => {
  const { match, slashIn } = settings;
  const fault = matchFault(match) ?? slashInFault(match, slashIn);
  if (fault !== null) throw new TypeError(`match: ${fault}`);
  const [, methods, path] = MATCH.exec(match)!;
  return {
    ...settings,
    methods: methods === '*' ? null : new Set(methods!.split(',')),
    strict: patternOf(path!, slashIn, encodeURI),
    loose: patternOf(path!.replace(/\/$/, ''), slashIn, loosened),
  };
};

/** A preflight is never charged. HEAD is the same request as GET without its body. */
const hasMethod = ({ methods }: Route, method: string): boolean => {
  if (methods === null) return method !== 'OPTIONS';
  return methods.has(method) || (method === 'HEAD' && methods.has('GET'));
};

/** The methods of a route with all of them, for the header Allow. */
const ALL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

type WrongMethod = { kind: 'refused'; status: 405; reason: 'method'; allow: string; route: null };

/**
 * What becomes of a request: its route, none (it passes unpaid), or a refusal. `preflight`: it is
 * one of a path that is for sale, so its answer passes without a body, and where the gate does not
 * see the answer, the request is refused.
 */
export type Found =
  | { kind: 'found'; route: Route | null }
  | { kind: 'preflight'; otherwise: WrongMethod; route: null }
  | { kind: 'refused'; status: 400 | 404; reason: 'path' | 'no_route'; route: null }
  | WrongMethod;

const refused = (status: 400 | 404, reason: 'path' | 'no_route'): Found => ({
  kind: 'refused',
  status,
  reason,
  route: null,
});
const PATH = refused(400, 'path');

/** The two forms in which a path is compared. */
type Forms = { strict: string; loose: string };

const matchesLoosely =
  ({ loose }: Forms) =>
  (route: Route): boolean =>
    route.loose.test(loose);

/**
 * The routes of a method for a path. `*` of a wider path names no method of one that a route before
 * it sells by others: an API that ignores methods would sell it for the price of the rest.
 */
const routesOf = (routes: readonly Route[], method: string, path: Forms): readonly Route[] => {
  const sold: Route[] = [];
  return routes.filter((route) => {
    if (!hasMethod(route, method)) {
      if (route.methods !== null && route.paid !== null && matchesLoosely(path)(route)) sold.push(route);
      return false;
    }
    return route.methods !== null || sold.every(({ loose }) => loose.source === route.loose.source);
  });
};

/**
 * The first route of a path and a method. A server that distinguishes less than `strict` and more
 * than `loose` finds the same one as both, because what it matches lies between them.
 * @returns undefined if servers could find another one that has a price
 */
const routeFor = (routes: readonly Route[], method: string, path: Forms): Route | null | undefined => {
  const able = routesOf(routes, method, path);
  const strict = able.find((route) => route.strict.test(path.strict)) ?? null;
  const loose = able.filter(matchesLoosely(path));
  return strict === (loose[0] ?? null) || loose.every(({ paid }) => paid === null) ? strict : undefined;
};

/** The methods that have a route for a path. */
const methodsFor = (routes: readonly Route[], path: Forms): readonly string[] => {
  const named = routes
    .filter(matchesLoosely(path))
    .flatMap(({ methods }) => (methods === null ? ALL_METHODS : [...methods]));
  return [...new Set(named)].filter((method) => routeFor(routes, method, path) !== null);
};

const allowOf = (methods: readonly string[]): string =>
  methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each])).join(', ');

/** Of a request: method and path, and whether it is a preflight of CORS. */
type Wanted = { method: string; path: string; isPreflight: boolean };

/**
 * Finds the route of a request: the first whose method and path match. It refuses a path that
 * servers could read as that of another route, and other methods of a path that is for sale.
 * @param passesUnmatched requests without a route pass unpaid
 */
export const createRouter = (routes: readonly Route[], passesUnmatched: boolean) => {
  /** The decision about a request that no route of its method matches. */
  const withoutRoute = (path: Forms, isPreflight: boolean): Found => {
    const methods = methodsFor(routes, path);
    const isForSale = methods.some((method) => {
      const route = routeFor(routes, method, path);
      return route === undefined || (route !== null && route.paid !== null);
    });
    // An API that ignores methods would serve by another one what is for sale.
    if (isForSale) {
      const wrong = {
        kind: 'refused',
        status: 405,
        reason: 'method',
        allow: allowOf(methods),
        route: null,
      } as const;
      return isPreflight ? { kind: 'preflight', otherwise: wrong, route: null } : wrong;
    }
    if (isPreflight && methods.length > 0) return { kind: 'found', route: null };
    // Only a route can say that the upstream reads an escaped slash as text.
    if (path.strict.includes(ESCAPED_SLASH)) return PATH;
    return passesUnmatched ? { kind: 'found', route: null } : refused(404, 'no_route');
  };
  return ({ method, path, isPreflight }: Wanted): Found => {
    const read = readPath(path);
    if (read === null) return PATH;
    const forms = { strict: read.sent, loose: loosened(read.decoded) };
    const route = routeFor(routes, method, forms);
    if (route === undefined) return PATH;
    return route === null ? withoutRoute(forms, isPreflight) : { kind: 'found', route };
  };
};
export type Router = ReturnType<typeof createRouter>;
