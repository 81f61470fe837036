// Runs the sandboxes of both fiat providers. Each environment has its own process, because each has
// its own chain.
import { readConfig } from './config.ts';
import { createSandboxes } from './server.ts';

const config = (() => {
  try {
    return readConfig(process.env);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(78);
  }
})();
const host = config.ONRAMPS_HOST === undefined ? '127.0.0.1' : '0.0.0.0';
await createSandboxes(config).listen({ host, port: config.ONRAMPS_PORT });
process.on('SIGTERM', () => process.exit(0));
