import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { findBinary } from '../../deploy/local/servers/binaries.mjs';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import type { Settings } from '../../gate/src/settings/settings.ts';
import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';

export type ProxyJob =
  | { kind: 'upstream' }
  | { kind: 'bare'; upstream: string }
  | {
      kind: 'gate';
      port: number;
      upstream: string;
      settings: Pick<Settings, 'paywall' | 'routes' | 'storeUrl'>;
    };
export type Server = { origin: string; pid: number };

/** Starts the upstream, a bare proxy or a gate as its own process. */
export const startProxy = async (run: Run, job: ProxyJob): Promise<Server> => {
  const child = await startChild(new URL('./main.ts', import.meta.url), job);
  run.defer(child.stop);
  return { origin: (child.hello as { origin: string }).origin, pid: child.pid };
};

/** nginx with one worker, as the gate has one process, and without a log. Null: it is not here. */
export const startNginx = async (run: Run, upstream: string): Promise<Server | null> => {
  const nginx = findBinary('nginx');
  if (nginx === undefined) return null;
  const folder = mkdtempSync(path.join(tmpdir(), 'quittance-nginx-'));
  const port = await createPortPicker().any();
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const proxied = 'proxy_pass http://up; proxy_http_version 1.1; proxy_set_header Connection "";';
  const http = [
    `access_log off; ${paths.join(' ')}`,
    `upstream up { server ${new URL(upstream).host}; keepalive 64; }`,
    `server { listen 127.0.0.1:${port}; keepalive_requests 1000000; location / { ${proxied} } }`,
  ];
  writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp {\n${http.join('\n')}\n}\n`,
  );
  const child = spawn(nginx, ['-p', folder, '-e', 'stderr', '-c', path.join(folder, 'nginx.conf')], {
    stdio: 'ignore',
  });
  run.defer(async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
    rmSync(folder, { recursive: true });
  });
  const origin = `http://127.0.0.1:${port}`;
  while ((await fetch(origin).catch(() => null)) === null)
    if (child.exitCode !== null) throw new Error('nginx did not start');
  return { origin, pid: child.pid! };
};
