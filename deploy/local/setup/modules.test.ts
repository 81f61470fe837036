import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ensureNodeModules } from './modules.mjs';

test('beside a running stack an operator’s command installs nothing, and another command refuses', async () => {
  const root = mkdtempSync(path.join(tmpdir(), 'modules-'));
  const binary = path.join(root, 'node_modules/node/bin/node');
  mkdirSync(path.dirname(binary), { recursive: true });
  mkdirSync(path.join(root, '.local'));
  mkdirSync(path.join(root, 'node_modules/gone'));
  copyFileSync(process.execPath, binary);
  // The packages are those of another commit.
  writeFileSync(path.join(root, 'node_modules/.stamp'), 'start another');
  writeFileSync(
    path.join(root, 'node_modules/.package-lock.json'),
    JSON.stringify({ packages: { 'node_modules/gone': {} } }),
  );
  writeFileSync(path.join(root, 'package.json'), JSON.stringify({ name: 'root', version: '1.0.0' }));
  writeFileSync(
    path.join(root, 'package-lock.json'),
    JSON.stringify({ lockfileVersion: 3, packages: { '': {} } }),
  );
  const service = spawn(binary, [
    '--eval',
    'console.log(1); process.stdin.resume()',
    'services/quote/main.js',
  ]);
  await once(service.stdout, 'data');
  const said: string[] = [];
  const ensure = (keepUsed: boolean) =>
    ensureNodeModules(root, (line) => said.push(line), { forStart: false, keepUsed });
  const before = readdirSync(root, { recursive: true });
  try {
    await ensure(true);
    expect([said, readdirSync(root, { recursive: true })]).toEqual([[], before]);
    await expect(ensure(false)).rejects.toThrow(`process ${service.pid} uses: stop npm start`);
  } finally {
    service.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  }
});
