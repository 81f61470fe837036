import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../../../deploy/local/processes/atomic-file.ts';

const FILE = path.resolve(import.meta.dirname, '../../../.local/cluster/figures.json');

const stored = (): Record<string, unknown> => {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, unknown>;
  } catch {
    return {}; // The first figures.
  }
};

/** Prints a line while a test runs, which jest's console would print only afterwards. */
export const report = (line: string): void => {
  process.stdout.write(`  ${line}\n`);
};

/**
 * Prints what a test has measured, and writes it to .local/cluster/figures.json. An earlier value
 * of the same name is replaced.
 */
export const recordFigures = (name: string, figures: Record<string, unknown>): void => {
  report(`${name}: ${JSON.stringify(figures)}`);
  mkdirSync(path.dirname(FILE), { recursive: true });
  writeAtomically(FILE, `${JSON.stringify({ ...stored(), [name]: figures }, null, 2)}\n`);
};
