import type { FastifyInstance } from 'fastify';
import { nearest } from '../../../shared/contract/nearest.ts';

type Path = { pattern: RegExp; methods: Set<string>; isOpen: boolean };

export type Paths = {
  /** The methods of a path in alphabetical order; none for an unknown path. */
  methodsOf: (path: string) => string[];
  /** The path with this method that was probably meant. Undefined: none is near. */
  nearestTo: (path: string, method: string) => string | undefined;
  /** The methods of a path that pages of every origin may call; none for any other path. */
  openMethodsOf: (path: string) => string[];
};

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** `/v1/quotes/:quote_id` → the paths that it stands for; `*` is any rest. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${escaped(url).replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`);

/**
 * A path of the API with the ids of a sent one: `/v1/quotes/:quote_id` → `/v1/quotes/q_1`. Null:
 * one of its words is far from what was sent.
 */
const withParameters = (url: string, sent: readonly string[]): string | null => {
  const parts = url.split('/');
  if (parts.length !== sent.length) return null;
  const isNear = (part: string, at: number) =>
    part.startsWith(':') || part === sent[at] || nearest(sent[at]!, [part]) !== undefined;
  return parts.every(isNear)
    ? parts.map((part, at) => (part.startsWith(':') ? sent[at] : part)).join('/')
    : null;
};

/**
 * Collects the routes of a server, before they are registered, for the answer to a method that a
 * path does not have (RFC 9110, 15.5.6), and to a preflight.
 */
export const collectPaths = (app: FastifyInstance): Paths => {
  const paths = new Map<string, Path>();
  app.addHook('onRoute', ({ url, method, config }) => {
    // The route of preflights is for every path, so it does not make a path known.
    if (url === '*') return;
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set(), isOpen: false };
    paths.set(url, path);
    path.isOpen ||= config?.document === 'public' || config?.isOpen === true;
    for (const each of [method].flat()) path.methods.add(each);
  });
  const find = (path: string) => [...paths.values()].filter(({ pattern }) => pattern.test(path));
  const methodsIn = (found: readonly Path[]) =>
    [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  return {
    methodsOf: (path) => methodsIn(find(path)),
    nearestTo: (path, method) => {
      const sent = path.replace(/\/$/, '').split('/');
      const others = [...paths].flatMap(([url, { methods }]) => {
        const other = methods.has(method) ? withParameters(url, sent) : null;
        return other === null || other === path ? [] : [other];
      });
      // The answer repeats parts of the sent path, so only those that an id can have.
      return /^[\w./-]*$/.test(path) ? nearest(path, others) : undefined;
    },
    openMethodsOf: (path) => methodsIn(find(path).filter(({ isOpen }) => isOpen)),
  };
};
