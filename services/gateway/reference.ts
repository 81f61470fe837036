import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import scalar from '@scalar/fastify-api-reference';
import { fastify } from 'fastify';

const SCRIPT = '/docs/js/scalar.js';

/**
 * The script of the reference page: Scalar's bundle, plain and gzipped (4 MB and a third of it). The package hands it
 * out by its plugin alone, which also renders a page; ours has no inline script, so that the policy can forbid them.
 * Hence the plugin serves a server that never listens and is asked for the one file.
 * @throws Error when the package does not serve the script there any more
 */
export const referenceScript = async (): Promise<{ plain: string; gzipped: Buffer }> => {
  const server = fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: { url: '/openapi.json' } });
  const { statusCode, body } = await server.inject(SCRIPT);
  await server.close();
  if (statusCode !== 200) throw new Error(`the reference page's script is not at ${SCRIPT}`);
  return { plain: body, gzipped: await promisify(gzip)(body) };
};
