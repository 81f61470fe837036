import type { FastifyInstance } from 'fastify';

type Path = { pattern: RegExp; methods: Set<string> };

const escaped = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');

/** `/v1/quotes/:quote_id` → the paths that it stands for; `*` is any rest. */
const patternOf = (url: string): RegExp =>
  new RegExp(`^${escaped(url).replace(/:\w+/g, '[^/]+').replace('*', '.*')}$`);

/**
 * Collects the routes of a server, before they are registered, for the answer to a method that a
 * path does not have (RFC 9110, 15.5.6).
 * @returns the methods of a path in alphabetical order; none for an unknown path
 */
export const collectMethods = (app: FastifyInstance): ((path: string) => string[]) => {
  const paths = new Map<string, Path>();
  app.addHook('onRoute', ({ url, method }) => {
    // The route of preflights is for every path, so it does not make a path known.
    if (url === '*') return;
    const path = paths.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    paths.set(url, path);
    for (const each of [method].flat()) path.methods.add(each);
  });
  return (path) => {
    const found = [...paths.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].sort();
  };
};
