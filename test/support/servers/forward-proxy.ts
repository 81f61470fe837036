import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findBinary, unpackedDir } from '../../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import { waitFor } from '../base/wait.ts';

/** Apache as a network's way out: it forwards requests, and connects to any host and port. */

const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const PROGRAM = findBinary('apache2');

/** False: apache2 is not on this machine (deploy/local/setup/proxies.mjs). */
export const hasForwardProxy = PROGRAM !== undefined;

/** @param connectPorts the ports to which it lets clients connect */
export const startForwardProxy = async (
  connectPorts: readonly number[],
): Promise<{
  url: string;
  /** The first lines of the requests that it has got: `CONNECT 127.0.0.2:8443 HTTP/1.1`. */
  seen: () => string[];
  stop: () => Promise<void>;
}> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-forward-proxy-'));
  const port = await createPortPicker().any();
  const modules = path.join(PROGRAM!.startsWith(unpackedDir) ? unpackedDir : '/', 'usr/lib/apache2/modules');
  const log = path.join(folder, 'access');
  writeFileSync(log, '');
  writeFileSync(
    path.join(folder, 'apache.conf'),
    [
      `ServerRoot ${folder}`,
      `PidFile ${folder}/pid`,
      `Mutex file:${folder}`,
      'ServerName localhost',
      `ErrorLog ${folder}/log`,
      `Listen 127.0.0.1:${port}`,
      ...['mpm_event', 'authz_core', 'proxy', 'proxy_http', 'proxy_connect'].map(
        (name) => `LoadModule ${name}_module ${modules}/mod_${name}.so`,
      ),
      `CustomLog ${log} "%r"`,
      'ProxyRequests On',
      `AllowCONNECT ${connectPorts.join(' ')}`,
      '',
    ].join('\n'),
  );
  const child = spawn(PROGRAM!, ['-X', '-f', path.join(folder, 'apache.conf')], {
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      LD_LIBRARY_PATH: path.join(unpackedDir, 'usr/lib', multiarch),
    },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const url = `http://127.0.0.1:${port}`;
  const isUp = () =>
    fetch(`${url}/up`).then(
      () => true,
      () => false,
    );
  await waitFor(isUp, (up) => up);
  return {
    url,
    seen: () =>
      readFileSync(log, 'utf8')
        .split('\n')
        .filter((line) => /^(CONNECT|\w+ http)/.test(line)),
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
