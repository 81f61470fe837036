import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { lineOf, strongestOf, surfaceChanges } from './changes.ts';
import type { Class } from './schema-changes.ts';
import { exportsIn } from './sdk-exports.ts';
import type { Part } from './surface.ts';

/** The row SDK of docs/versioning.md, by declarations as the compiler writes them. */

const PACKAGE = {
  name: 'sdk',
  exports: { '.': { types: './dist/main.d.ts' }, './package.json': './package.json' },
};

/** @param files text by name; `main.d.ts` is the entry */
const exportsOf = (files: Record<string, string>): Part => {
  const folder = mkdtempSync(path.join(tmpdir(), 'declarations-'));
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
    return exportsIn(PACKAGE, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
};

const BASE = `import { type Inner } from './inner.ts';
export { type Inner, InnerError as NamedError } from './inner.ts';
export type Options = { url: string; /** Text. */ mode?: 'a' | 'b'; store?: Store; each?: (done: Result) => boolean };
export interface Store { get(key: string): Promise<string | null>; }
export type Result = Inner & { kind: 'a' | 'b'; items: readonly string[] };
export declare const create: (url: string, options?: Options) => Promise<Result>;
export declare class Client { private secret; constructor(options: Options); readonly last: Result | null; close(): void; }
`;
const INNER = `export type Inner = { id: string };
export declare class InnerError extends Error { readonly code: string; }
`;

const changesOf = (before: Part, after: Part) => surfaceChanges({ SDK: before }, { SDK: after });
const base = exportsOf({ 'main.d.ts': BASE, 'inner.d.ts': INNER });

const CASES: [what: string, from: string, to: string, expected: Class][] = [
  ['an export is removed', 'export declare class Client', 'declare class Client', 'major'],
  ['an export is renamed', 'as NamedError', 'as OtherError', 'major'],
  ['a property of a result is removed', 'kind: ', '', 'major'],
  ['a property of a base is renamed', '{ id: string }', '{ key: string }', 'major'],
  ['a property of a result becomes optional', 'items:', 'items?:', 'major'],
  ['a result has one more value', "kind: 'a' | 'b'", "kind: 'a' | 'b' | 'c'", 'major'],
  ['a result may be null', 'readonly code: string', 'readonly code: string | null', 'major'],
  ['an argument becomes required', 'options?: Options) =>', 'options: Options) =>', 'major'],
  ['an argument is removed', ', options?: Options) =>', ') =>', 'major'],
  ['a new argument is required', 'url: string, options', 'url: string, key: string, options', 'major'],
  ['an option is removed', "mode?: 'a' | 'b'; ", '', 'major'],
  ['an option takes less', "mode?: 'a' | 'b'", "mode?: 'a'", 'major'],
  ['a new option is required', 'url: string; ', 'url: string; key: string; ', 'major'],
  [
    'a store of the caller needs a new method',
    'Promise<string | null>; }',
    'Promise<string | null>; set(): void; }',
    'major',
  ],
  ['a callback must return something else', '=> boolean', '=> string', 'major'],
  ['a callback gets less', '(done: Result) =>', '() =>', 'major'],
  ['a method is removed', 'close(): void; ', '', 'major'],
  [
    'a new export',
    'export type Options',
    'export declare const later: string;\nexport type Options',
    'minor',
  ],
  ['an optional argument', 'options?: Options) =>', 'options?: Options, more?: string) =>', 'minor'],
  ['a new property of a result', 'items: ', 'more: string; items: ', 'minor'],
  ['a new option', 'url: string; ', 'url: string; more?: string; ', 'minor'],
  ['an option takes more', "mode?: 'a' | 'b'", "mode?: 'a' | 'b' | 'c'", 'minor'],
  ['an option becomes optional', 'url: string; ', 'url?: string; ', 'minor'],
  ['a callback gets more', '(done: Result) =>', '(done: Result, more: string) =>', 'minor'],
  ['a new method', 'close(): void;', 'close(): void; open(): void;', 'minor'],
  ['another text', 'Text.', 'Another text.', 'none'],
  ['another private field', 'private secret', 'private other', 'none'],
  ['a union in another order', 'Result | null', 'null | Result', 'none'],
];

test.each(CASES)('%s', (_what, from, to, expected) => {
  expect(`${BASE}${INNER}`).toContain(from);
  const edited = (text: string) =>
    from === 'kind: ' ? text.replace("kind: 'a' | 'b'; ", '') : text.replace(from, to);
  const changes = changesOf(base, exportsOf({ 'main.d.ts': edited(BASE), 'inner.d.ts': edited(INNER) }));
  expect([strongestOf(changes), changes.map(lineOf)]).toEqual([expected, changes.map(lineOf)]);
  expect(changes.length).toBeLessThanOrEqual(3);
});

test('a file that moves changes nothing', () => {
  const moved = exportsOf({ 'main.d.ts': BASE.replaceAll('./inner.ts', './other.ts'), 'other.d.ts': INNER });
  expect(changesOf(base, moved)).toEqual([]);
});

test('a package whose entry is not built is named', () => {
  expect(() => exportsOf({ 'other.d.ts': '' })).toThrow('sdk exports ./dist/main.d.ts, which is not built');
});
