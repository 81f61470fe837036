import { renameSync, rmSync, writeFileSync } from 'node:fs';

/** Writes the file completely or not at all. Neither a reader nor a crash sees a part of it. */
export function writeAtomically(path: string, text: string, mode = 0o644): void {
  const temporary = `${path}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  writeFileSync(temporary, text, { mode, flag: 'wx' });
  renameSync(temporary, path);
}
