import { readFileSync } from 'node:fs';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

/**
 * The files of `examples/` that the console shows. The tests run the examples, so the page cannot
 * diverge from them.
 */
export const consoleExamples = (): string => {
  const examples = {
    storeExample: read('examples/redis-store.ts'),
    webhookExample: read('examples/webhook.ts'),
    gateNginx: read('examples/gate/nginx.conf'),
    gateCaddy: read('examples/gate/Caddyfile'),
    gateHaproxy: read('examples/gate/haproxy.cfg'),
    gateHaproxyLua: read('examples/gate/quittance-haproxy.lua'),
    gateApache: read('examples/gate/apache.conf'),
    gateApacheLua: read('examples/gate/quittance-apache.lua'),
    gateKubernetes: read('examples/gate/kubernetes/gate.yaml'),
  };
  return `// Written by \`npm run generate\` out of examples/; do not edit.\nexport const EXAMPLES = ${JSON.stringify(examples, null, 2)};\n`;
};
