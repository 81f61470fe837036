import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { useProxies } from '../../sdk/src/programs/proxies.ts';
import { listen } from './http.ts';
import { createServers } from './server.ts';
import { readSettings, SettingsError, USAGE } from './settings.ts';

/** The command `quittance-mcp`. Stdout belongs to the protocol, so it writes to stderr. */

/** Set by the build (build.ts). */
declare const MCP_VERSION: string | undefined;

/** The longest wait for the limits of the key, before a host sees this server as failed. */
const CHECK_MS = 5000;

const log = (text: string): void => {
  process.stderr.write(`quittance-mcp: ${text}\n`);
};

const run = async (): Promise<void> => {
  const settings = readSettings(process.argv.slice(2), process.env);
  if (settings === null) return void process.stderr.write(USAGE);
  await useProxies(process.env, () => import('undici'));
  const { baseUrl, http, key } = settings;
  // A message of an error may contain text of a vendor, and never the key.
  const onError = ({ message }: Error) => log(message.replaceAll(key, '…'));
  const { create, checkKey } = createServers(
    settings,
    typeof MCP_VERSION === 'string' ? MCP_VERSION : '0.0.0',
  );
  await checkKey(AbortSignal.timeout(CHECK_MS)).catch((error: Error) => {
    if (error instanceof SettingsError) throw error;
    // Each payment checks it again.
    log(`the limits of the key cannot be read now: ${error.message.replaceAll(key, '…')}`);
  });
  if (http === null) {
    serveStdio(create, { onerror: onError });
    return log(`ready on stdin and stdout, pays through ${baseUrl}`);
  }
  const { url, stop } = await listen(create, http, onError);
  log(`ready at ${url}, pays through ${baseUrl}`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void stop().then(() => process.exit(0)));
};

run().catch((error: Error) => {
  log(error.message);
  if (error instanceof SettingsError) process.stderr.write(`\n${USAGE}`);
  process.exitCode = 1;
});
