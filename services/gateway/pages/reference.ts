import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fastify } from 'fastify';

const SCRIPT = '/docs/js/scalar.js';

/**
 * Scalar renders by Vue, whose policy for Trusted Types the page allows by name. Besides that it
 * writes markup only to empty an element, and to decode one character reference. It tries whether
 * an empty function can be made of text, which script-src forbids. Everything else that becomes
 * markup or a script fails.
 */
const TRUSTED_TYPES = `globalThis.trustedTypes?.createPolicy('default', {
  createHTML: (text) => (/^(&#?\\w+;)?$/.test(text) ? text : null),
  createScript: (text) => (/^\\(function anonymous\\(\\s*\\) {\\s*}\\)$/.test(text) ? text : null),
});
`;

/**
 * A page with an origin of its own has no storage: reading `localStorage` throws. Scalar keeps the
 * reader's settings there. Here they are kept until the page is left.
 */
const STORAGE = `for (const name of ['localStorage', 'sessionStorage']) {
  const items = new Map();
  const value = {
    getItem: (key) => items.get(String(key)) ?? null,
    setItem: (key, text) => void items.set(String(key), String(text)),
    removeItem: (key) => void items.delete(String(key)),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() { return items.size; },
  };
  Object.defineProperty(window, name, { value });
}
`;

/**
 * The script of the reference page: Scalar's bundle of 4 MB, gzipped to a third. The package offers
 * it only through its plugin, which also renders a page. The gateway's page has no inline script,
 * so that the policy can forbid them. So the plugin is registered on a server that never listens,
 * and that one file is requested from it. It is loaded by the first request, because most gateways
 * get none. The script of its storage comes first.
 * @throws Error if the package no longer serves the script there
 */
export const referenceScript = async (): Promise<Buffer> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await server.inject(SCRIPT);
  await server.close();
  if (statusCode !== 200) throw new Error(`the script of the reference page was not found at ${SCRIPT}`);
  return promisify(gzip)(Buffer.concat([Buffer.from(TRUSTED_TYPES), Buffer.from(STORAGE), rawPayload]));
};
