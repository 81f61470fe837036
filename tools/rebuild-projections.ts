// `npm run ops -- rebuild-projections`: runs services/wallet/transactions/rebuild.ts in the first
// environment of the system that `npm start` runs. A deployment runs that file directly, with the
// configuration of its wallet service.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readCommandLine, refuse } from '../deploy/local/processes/command-line.ts';
import type { Stack } from '../deploy/local/stack/stack-file.ts';

const root = path.resolve(import.meta.dirname, '..');

/** The configuration of the wallet service, as an operator with all rights. */
const rebuildEnvironment = (
  stack: Pick<Stack, 'nats_url' | 'nats_nkey_seed' | 'postgres_urls' | 'environments'>,
) => {
  const postgres = new URL(stack.postgres_urls.wallet);
  postgres.searchParams.set('options', '-c search_path=wallet,public');
  return {
    ENVIRONMENT: Object.keys(stack.environments)[0]!,
    HTTP_PORT: '0',
    NATS_URL: stack.nats_url,
    NATS_NKEY_SEED: stack.nats_nkey_seed,
    POSTGRES_URL: postgres.href,
    // The rebuild creates no cursor.
    CURSOR_KEY: randomBytes(32).toString('base64url'),
  };
};

if (import.meta.main) {
  readCommandLine({
    typed: 'npm run ops -- rebuild-projections',
    about: `Rebuilds the lists of transactions from the records while the services run (docs/runbook.md), in the first
environment of the stack on this machine or of STACK_FILE.`,
    options: {},
  });
  const file = process.env.STACK_FILE ?? path.join(root, '.local', 'stack.json');
  if (!existsSync(file))
    refuse(`no stack is running (${file}): start one, or set STACK_FILE to the path of its file`);
  const stack = JSON.parse(readFileSync(file, 'utf8')) as Stack;
  const script = path.join(root, 'services', 'wallet', 'transactions', 'rebuild.ts');
  const env = { PATH: process.env.PATH, ...rebuildEnvironment(stack) };
  const { status } = spawnSync(process.execPath, [script], { env, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
