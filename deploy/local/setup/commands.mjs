// Puts the commands of this repository's packages into node_modules/.bin, from their sources, so
// that `npx --no-install quittance`, `… quittance-mcp` and `… quittance-gate` work in a clone. They
// run on the Node that is installed there.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const COMMANDS = {
  quittance: 'cli/src/main.ts',
  'quittance-mcp': 'mcp/src/quittance-mcp.ts',
  'quittance-gate': 'gate/src/program/quittance-gate.ts',
};

const textOf = (program) => `#!/bin/sh
bin=$(dirname "$(readlink -f "$0")")
exec "$bin/node" --disable-warning=ExperimentalWarning "$bin/../../${program}" "$@"
`;

/** Writes a command if it is not there as it should be. Concurrent set-ups write the same. */
export function ensureCommands(root) {
  const folder = path.join(root, 'node_modules/.bin');
  for (const [name, program] of Object.entries(COMMANDS)) {
    const file = path.join(folder, name);
    const text = textOf(program);
    try {
      if (readFileSync(file, 'utf8') === text) continue;
    } catch {
      // It is written below.
    }
    writeFileSync(`${file}.${process.pid}`, text, { mode: 0o755 });
    renameSync(`${file}.${process.pid}`, file);
  }
}
