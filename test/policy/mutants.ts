import { readFileSync } from 'node:fs';
import path from 'node:path';

/** Small changes of the policy for payments of other clients, which its tables must find. */

/** A change of a file: what stands at this place, and what instead of it. */
export type Mutant = { file: string; line: number; at: number; from: string; to: string };

const root = path.resolve(import.meta.dirname, '../..');
const FILES = [
  'services/chain-submitter/incoming/envelope.ts',
  'services/chain-submitter/incoming/policy.ts',
  'services/chain-submitter/incoming/wallet-policy.ts',
  'services/chain-submitter/transactions/guards.ts',
];

/** What is changed wherever it stands in code, one place at a time. */
const RULES: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/ !== /g, () => ' === '],
  [/ === /g, () => ' !== '],
  [/ > /g, () => ' >= '],
  [/ < /g, () => ' <= '],
  [/ \|\| /g, () => ' && '],
  [/ && /g, () => ' || '],
  [/\.some\(/g, () => '.every('],
  [/\.every\(/g, () => '.some('],
  [/(?<=[( ])!(?=[a-z])/g, () => ''],
  [/(?<=const [A-Z_]+ = )[\d_]+(?=n?;)/g, ([value]) => String(Number(value.replaceAll('_', '')) + 1)],
  // One element less of a list of what is allowed.
  [/(?<=new Set\(\[.*)\b\d+(?=.*\])/g, () => '255'],
  [/(?<=^ {2})PROGRAMS\.\w+,$/gm, () => ''],
];

const isCode = (line: string): boolean => !/^\s*(\/?\*|\/\/|import |export type |type )/.test(line);

/** The end of the parenthesis that opens at `open`. */
const closing = (source: string, open: number): number => {
  let depth = 0;
  for (let at = open; ; at += 1) {
    if (source[at] === '(') depth += 1;
    if (source[at] === ')') depth -= 1;
    if (depth === 0) return at;
  }
};

const lineAt = (source: string, at: number): number => source.slice(0, at).split('\n').length;

/** Each condition of an `if`, which then never holds. */
const conditions = (file: string, source: string): Mutant[] =>
  [...source.matchAll(/\bif \(/g)].map(({ index }) => {
    const open = index + 'if '.length;
    const from = source.slice(open, closing(source, open) + 1);
    return { file, line: lineAt(source, open), at: open, from, to: '(Math.random() > 2)' };
  });

const replacements = (file: string, source: string): Mutant[] => {
  const lines = source.split('\n');
  return RULES.flatMap(([pattern, change]) =>
    [...source.matchAll(pattern)].map((found) => ({
      ...{ file, at: found.index, line: lineAt(source, found.index) },
      ...{ from: found[0], to: change(found) },
    })),
  ).filter(({ line }) => isCode(lines[line - 1]!));
};

const sourceOf = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** All mutants, in the order of the files. */
export const listMutants = (): Mutant[] =>
  FILES.flatMap((file) => {
    const source = sourceOf(file);
    return [...conditions(file, source), ...replacements(file, source)].sort((a, b) => a.at - b.at);
  });

/** The source of a file with a mutant in it. */
export const mutated = ({ file, at, from, to }: Mutant): string => {
  const source = sourceOf(file);
  return source.slice(0, at) + to + source.slice(at + from.length);
};
