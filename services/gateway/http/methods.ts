import type { FastifyInstance } from 'fastify';

type Path = { pattern: RegExp; methods: Set<string>; isPublic: boolean };

export type Paths = {
  /** The methods of a path in alphabetical order; none for an unknown path. */
  methodsOf: (path: string) => string[];
  /** Whether a path is that of a public document. */
  isPublic: (path: string) => boolean;
};

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** `/v1/quotes/:quote_id` → the paths that it stands for; `*` is any rest. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${escaped(url).replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`);

/**
 * Collects the routes of a server, before they are registered, for the answer to a method that a
 * path does not have (RFC 9110, 15.5.6), and to a preflight.
 */
export const collectPaths = (app: FastifyInstance): Paths => {
  const paths = new Map<string, Path>();
  app.addHook('onRoute', ({ url, method, config }) => {
    // The route of preflights is for every path, so it does not make a path known.
    if (url === '*') return;
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set(), isPublic: false };
    paths.set(url, path);
    path.isPublic ||= config?.document === 'public';
    for (const each of [method].flat()) path.methods.add(each);
  });
  const find = (path: string) => [...paths.values()].filter(({ pattern }) => pattern.test(path));
  return {
    methodsOf: (path) => [...new Set(find(path).flatMap(({ methods }) => [...methods]))].sort(),
    isPublic: (path) => find(path).some(({ isPublic }) => isPublic),
  };
};
