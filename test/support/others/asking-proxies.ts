import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findBinary, unpackedDir } from '../../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';

/** The proxies of examples/gate, as Debian has them, with the files of that folder. */

const EXAMPLES = path.resolve(import.meta.dirname, '../../../examples/gate');
const multiarch = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const LIBRARIES = path.join(unpackedDir, 'usr/lib', multiarch);
const LUA = path.join(unpackedDir, 'usr/share/lua/5.3/?.lua');
const NATIVE_LUA = path.join(LIBRARIES, 'lua/5.3/?.so');

const PROGRAMS = { nginx: 'nginx', Caddy: 'caddy', HAProxy: 'haproxy', Apache: 'apache2' } as const;
export type AskingProxy = keyof typeof PROGRAMS;

/** Those that are on this machine (deploy/local/setup/proxies.mjs). */
export const askingProxies = (Object.keys(PROGRAMS) as AskingProxy[]).filter(
  (name) => findBinary(PROGRAMS[name]) !== undefined,
);
if (askingProxies.length < Object.keys(PROGRAMS).length)
  console.warn(
    'the tests of a gate beside some proxies are skipped: install nginx, caddy, haproxy and apache2',
  );

type Ports = {
  port: number;
  gatePort: number;
  upstreamPort: number;
  /** Changes a script, for instance so that it fails. */
  changeScript?: (text: string) => string;
};

/** A file of the examples with the ports of a test. */
const withPorts = (name: string, { port, gatePort, upstreamPort, changeScript }: Ports): string => {
  const text = readFileSync(path.join(EXAMPLES, name), 'utf8')
    .replaceAll('8402', String(gatePort))
    .replaceAll('9000', String(upstreamPort))
    .replaceAll('8080', String(port));
  return changeScript !== undefined && name.endsWith('.lua') ? changeScript(text) : text;
};

const modulesFolder = ['/usr/lib/apache2/modules', path.join(unpackedDir, 'usr/lib/apache2/modules')];

/** Writes the files of a proxy. Returns the arguments of its program. */
const FILES: Record<AskingProxy, (folder: string, ports: Ports) => string[]> = {
  nginx: (folder, ports) => {
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const http = `access_log off; ${paths.join(' ')}\n${withPorts('nginx.conf', ports)}`;
    writeFileSync(
      path.join(folder, 'nginx.conf'),
      `daemon off; user root; worker_processes 1; pid ${folder}/pid; events {}\nhttp {\n${http}\n}\n`,
    );
    return ['-p', folder, '-e', 'stderr', '-c', path.join(folder, 'nginx.conf')];
  },
  Caddy: (folder, ports) => {
    const options = '{\n\tadmin off\n\tauto_https off\n}\n';
    writeFileSync(path.join(folder, 'Caddyfile'), options + withPorts('Caddyfile', ports));
    return ['run', '--config', path.join(folder, 'Caddyfile'), '--adapter', 'caddyfile'];
  },
  HAProxy: (folder, ports) => {
    for (const name of ['haproxy.cfg', 'quittance-haproxy.lua'])
      writeFileSync(path.join(folder, name), withPorts(name, ports));
    return ['-db', '-f', 'haproxy.cfg'];
  },
  Apache: (folder, ports) => {
    writeFileSync(path.join(folder, 'quittance-apache.lua'), withPorts('quittance-apache.lua', ports));
    const modules = ['mpm_event', 'authz_core', 'lua', 'headers', 'proxy', 'proxy_http'];
    const at = modulesFolder.find(
      (each) =>
        each !== undefined && findBinary('apache2')!.startsWith(unpackedDir) === each.startsWith(unpackedDir),
    )!;
    const base = [
      `ServerRoot ${folder}`,
      `PidFile ${folder}/pid`,
      `Mutex file:${folder}`,
      'ServerName localhost',
      `ErrorLog ${folder}/log`,
      `Listen ${ports.port}`,
      ...modules.map((name) => `LoadModule ${name}_module ${at}/mod_${name}.so`),
      `LuaPackagePath ${LUA}`,
      `LuaPackageCPath ${NATIVE_LUA}`,
    ];
    const site = withPorts('apache.conf', ports).replace(
      'quittance-apache.lua authorize',
      `${folder}/quittance-apache.lua authorize`,
    );
    writeFileSync(path.join(folder, 'apache.conf'), `${base.join('\n')}\n${site}`);
    return ['-X', '-f', path.join(folder, 'apache.conf')];
  },
};

const logOf = (folder: string): string =>
  existsSync(path.join(folder, 'log')) ? readFileSync(path.join(folder, 'log'), 'utf8') : '';

/**
 * Starts a proxy, and waits until it answers.
 * @param ports `port`: its own, by default any
 */
export const startAskingProxy = async (
  name: AskingProxy,
  given: Omit<Ports, 'port'> & Partial<Ports>,
): Promise<{ url: string; port: number; isRunning: () => boolean; stop: () => Promise<void> }> => {
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-proxy-'));
  const port = given.port ?? (await createPortPicker().any());
  const args = FILES[name](folder, { ...given, port });
  const child: ChildProcess = spawn(findBinary(PROGRAMS[name])!, args, {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, LD_LIBRARY_PATH: LIBRARIES },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk) => {
      output += String(chunk);
    });
  const url = `http://127.0.0.1:${port}`;
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    // A master process ends its workers.
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (;;) {
    const isUp = await fetch(`${url}/up`).then(
      () => true,
      () => false,
    );
    if (isUp)
      return { url, port, isRunning: () => child.exitCode === null && child.signalCode === null, stop };
    if (child.exitCode !== null) throw new Error(`${name} did not start: ${output}${logOf(folder)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
