import { createCopy } from '../base/admitted.ts';

/** What handlers of Node's server send, as the paywall sees it. */

export type Method = (...args: never[]) => unknown;
export type NodeResponse = {
  statusCode: number;
  headersSent: boolean;
  writeHead: Method;
  write: Method;
  end: Method;
  destroy: Method;
  getHeaders: () => object;
  hasHeader: (name: string) => boolean;
  setHeader: (name: string, value: string) => unknown;
  once: (event: 'close', listener: () => void) => unknown;
  socket?: { destroyed: boolean } | null;
};

/** Converts each header format that writeHead accepts into pairs. */
const pairs = (headers: unknown): [string, string][] => {
  if (typeof headers !== 'object' || headers === null) return [];
  const flat = Array.isArray(headers) && !Array.isArray(headers[0]);
  const entries: [string, unknown][] = flat
    ? headers.flatMap((name, at) => (at % 2 === 0 ? [[String(name), headers[at + 1]]] : []))
    : Array.isArray(headers)
      ? headers
      : Object.entries(headers);
  return entries.flatMap(([name, value]) =>
    value === undefined
      ? []
      : Array.isArray(value)
        ? value.map((each): [string, string] => [name, String(each)])
        : [[name, String(value)] as [string, string]],
  );
};

type Methods = Record<'writeHead' | 'write' | 'end' | 'destroy', (...args: unknown[]) => unknown>;

/** The methods of a response that the paywall replaces, and what they were. */
export const innerOf = (response: NodeResponse): { inner: Methods; original: Methods } => {
  const inner = response as unknown as Methods;
  const original = {
    writeHead: inner.writeHead.bind(response),
    write: inner.write.bind(response),
    end: inner.end.bind(response),
    destroy: inner.destroy.bind(response),
  };
  return { inner, original };
};

/**
 * A copy of what a handler sends. It is taken before earlier middleware (compression) changes it,
 * so that a repeat passes through the same middleware.
 */
export const createNodeCopy = (response: NodeResponse, limit: number) => {
  const copy = createCopy(limit);
  let head: { status: number; headers: [string, string][] } | null = null;

  const keepStatus = (status: number, given: unknown): void => {
    const over = pairs(given);
    const named = new Set(over.map(([name]) => name.toLowerCase()));
    const set = pairs(response.getHeaders()).filter(([name]) => !named.has(name.toLowerCase()));
    head ??= { status, headers: [...set, ...over] };
  };
  return {
    copy,
    head: () => head,
    /** @param args those of writeHead */
    keepHead: (args: readonly unknown[]): void =>
      keepStatus(args[0] as number, typeof args[1] === 'string' ? args[2] : args[1]),
    /** Copies a chunk of `write` or `end`. */
    keep: (chunk: unknown, encoding: unknown): void => {
      keepStatus(response.statusCode, null);
      if (typeof chunk === 'string') {
        const utf8 = typeof encoding !== 'string' || /^utf-?8$/i.test(encoding);
        if (utf8) copy.add(new TextEncoder().encode(chunk));
        else copy.giveUp();
      } else if (ArrayBuffer.isView(chunk)) {
        // Copied, because the handler may reuse its buffer.
        copy.add(new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength).slice());
      }
    },
  };
};
