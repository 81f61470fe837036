import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** A program that a test brings to the local chain: its id, and its ELF. */
export type ChainProgram = { id: string; elf: Uint8Array };

/** Writes programs into a folder. Returns the setting CHAIN_PROGRAMS, empty without any. */
export const writePrograms = (folder: string, programs: readonly ChainProgram[]): string => {
  mkdirSync(folder, { recursive: true });
  return programs
    .map(({ id, elf }) => {
      const file = path.join(folder, `${id}.so`);
      writeFileSync(file, elf);
      return `${id}:${file}`;
    })
    .join();
};
