import { parseEnv } from 'node:util';

/** The texts of `.env` and `.gitignore`. Lines of others stay as they are. Pure. */

export type Variables = Readonly<Record<string, string>>;

const HEADING = '# Of `quittance dev`: keys of the test environment, which belong into no repository.';

const appended = (text: string, lines: readonly string[]): string =>
  `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${lines.join('\n')}\n`;

/** The variables of a `.env` file. */
export const variablesIn = (text: string): Variables => parseEnv(text) as Record<string, string>;

/** Characters that stand for themselves in a `.env` and a shell: an answer sets no other line. */
const PLAIN = /^[\w.:/[\]-]+$/;

/**
 * A `.env` with the variables that it does not set yet, and their names.
 * @throws TypeError for a value that would be more than a value there
 */
export const withVariables = (
  text: string,
  variables: Variables,
): { text: string; added: readonly string[] } => {
  const set = variablesIn(text);
  const added = Object.keys(variables).filter((name) => !(name in set));
  if (added.length === 0) return { text, added };
  const unsafe = added.find((name) => !PLAIN.test(variables[name]!));
  if (unsafe !== undefined) throw new TypeError(`${unsafe} has characters that no id, key or address has`);
  return { text: appended(text, [HEADING, ...added.map((name) => `${name}=${variables[name]}`)]), added };
};

/** Patterns that keep `.env` out of a repository. */
const IGNORES = new Set(['.env', '/.env', '.env*', '/.env*', '*.env', '.*']);

/** A `.gitignore` that has `.env`, or null if it has it already. */
export const withIgnored = (text: string): string | null => {
  const lines = text.split('\n').map((line) => line.trim());
  // The last pattern that matches decides, so a later exception needs another line.
  const last = lines.findLast((line) => IGNORES.has(line.replace(/^!/, '')));
  return last !== undefined && !last.startsWith('!') ? null : appended(text, ['.env']);
};
