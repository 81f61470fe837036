import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fastify } from 'fastify';

const SCRIPT = '/docs/js/scalar.js';

/**
 * The script of the reference page: Scalar's bundle of 4 MB, gzipped to a third. The package hands it out by its plugin
 * alone, which also renders a page; ours has no inline script, so that the policy can forbid them. Hence the plugin serves a
 * server that never listens and is asked for the one file. Loaded by whoever asks first: most gateways are never asked.
 * @throws Error when the package does not serve the script there any more
 */
export const referenceScript = async (): Promise<Buffer> => {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, rawPayload } = await server.inject(SCRIPT);
  await server.close();
  if (statusCode !== 200) throw new Error(`the reference page's script is not at ${SCRIPT}`);
  return promisify(gzip)(rawPayload);
};
