import { execFileSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { DEFAULT_URL } from '../cli/src/context.ts';
import { LOCAL_API, LOCAL_PORT } from '../shared/lib/local-api.ts';
import { doors } from '../tools/doors.mjs';
import { commands as operators } from '../tools/ops/commands.ts';

/** Documents are checked as code is: references exist, and the decisions are complete. */

const root = path.resolve(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const exists = (file: string): boolean => existsSync(path.join(root, file));

const GENERATED = new Set(['package-lock.json', 'docs/openapi.json']);
/** The files that git tracks or would add, so that a new file counts before its first commit. */
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '' && !GENERATED.has(file) && exists(file));
const texts = files.map((file) => [file, read(file)] as const).filter(([, text]) => !text.includes('\0'));
const pages = texts.filter(([file]) => file.endsWith('.md'));

/** The folders in which a reference may begin: its file's, the root, docs/. */
const resolves = (file: string, name: string): boolean =>
  [path.posix.dirname(file), '.', 'docs'].some((folder) => exists(path.posix.join(folder, name)));

/** Web addresses are outside of this repository. */
const withoutAddresses = (text: string): string => text.replace(/\bhttps?:\/\/[^\s)>'"`]+/g, '');
const withoutFences = (text: string): string => text.replace(/^\s*```[\s\S]*?^\s*```$/gm, '');

/** `file: reference`, for a complete message. */
const findings = (
  of: readonly (readonly [string, string])[],
  names: (text: string) => string[],
  holds: (file: string, name: string) => boolean,
): string[] =>
  of.flatMap(([file, text]) =>
    [...new Set(names(text))].filter((name) => !holds(file, name)).map((name) => `${file}: ${name}`),
  );

// ---------- references exist ----------

test('every document that a file names exists', () => {
  // A name with a placeholder, as in `docs/adr/<nnnn>-<what>.md`, is not a document.
  const named = (text: string) =>
    [...withoutAddresses(text).matchAll(/(?<![\w./@<>*{}$-])[\w./@-]*\w\.md\b(?![\w-])/g)].map(
      ([name]) => name,
    );
  expect(texts.flatMap(([, text]) => named(text)).length).toBeGreaterThan(300);
  expect(findings(texts, named, resolves)).toEqual([]);
});

test('every file that a comment names exists', () => {
  const commentOf = (text: string) =>
    [...text.matchAll(/^\s*(?:\/\/|\/?\*+|--)(.*)$/gm)].map(([, line]) => line).join('\n');
  const named = (text: string) =>
    [
      ...withoutAddresses(commentOf(text)).matchAll(
        /(?<![\w./@<>*{}$:-])(?:\.{1,2}\/)?[\w.-]+(?:\/[\w.-]+)*\/[\w.-]+\.(?:ts|tsx|sql|mjs|yaml)\b/g,
      ),
    ].map(([name]) => name);
  const sources = texts.filter(([file]) => /\.(ts|tsx|sql|mjs)$/.test(file) && !file.includes('/generated/'));
  // From the comment's folder, its service or package, or the root.
  const isThere = (file: string, name: string) =>
    [path.posix.dirname(file), file.split('/').slice(0, 2).join('/'), file.split('/')[0]!, '.'].some(
      (folder) => exists(path.posix.join(folder, name)),
    );
  expect(sources.flatMap(([, text]) => named(text)).length).toBeGreaterThan(80);
  expect(findings(sources, named, isThere)).toEqual([]);
});

test('every document and the command line name the gateway of npm start by its port', () => {
  expect(DEFAULT_URL).toBe(LOCAL_API);
  // The ports of containers (docs/deployment.md, docs/kubernetes.md) are those of an image.
  const named = (text: string) => [...text.matchAll(/\b127\.0\.0\.1:(3\d{3})\b/g)].map(([, port]) => port!);
  expect(pages.flatMap(([, text]) => named(text)).length).toBeGreaterThan(8);
  expect(findings(pages, named, (_file, port) => port === String(LOCAL_PORT))).toEqual([]);
});

/** Written by `npm run generate`, as tables and one line for each thing. */
const WRITTEN = /^docs\/(errors|map|metrics|guides\/(events|limits|pricing))\.md$/;
const MAX_WIDTH = 120;

test('a line of a document has at most 120 characters, except in tables and code', () => {
  const wide = (text: string) =>
    withoutFences(text)
      .split('\n')
      .filter((line) => [...line].length > MAX_WIDTH && !/^\s*(\||!\[|<|`[^`]+`[.,;:]?$)/.test(line));
  const own = pages.filter(([file]) => !WRITTEN.test(file));
  expect(own.length).toBeGreaterThan(100);
  expect(own.flatMap(([file, text]) => wide(text).map((line) => `${file}: ${line.slice(0, 60)}`))).toEqual(
    [],
  );
});

test('the pictures of the documents are small', () => {
  const pictures = files.filter((file) => /^docs\/.*\.(png|gif|svg)$/.test(file));
  const sizeOf = (file: string) => statSync(path.join(root, file)).size;
  expect(pictures.length).toBeGreaterThan(2);
  expect(pictures.filter((file) => sizeOf(file) > 200_000)).toEqual([]);
});

test('the index of the documents names each of them', () => {
  const index = read('docs/README.md');
  const documents = pages.filter(([file]) => /^docs\/(guides\/|design\/|spec\/)?[\w-]+\.md$/.test(file));
  const missing = documents.filter(
    ([file]) => file !== 'docs/README.md' && !index.includes(`(${path.posix.relative('docs', file)})`),
  );
  expect(documents.length).toBeGreaterThan(30);
  expect(missing.map(([file]) => file)).toEqual([]);
});

test('every link of a document to a file or folder of this tree resolves', () => {
  const linked = (text: string) =>
    [...withoutFences(text).matchAll(/\]\(([^()\s]+)\)/g)]
      .map(([, link]) => link!.replace(/#.*$/, ''))
      // `/docs` is a page of the gateway, whose tests open every link of a guide.
      .filter((link) => link !== '' && !/^([a-z]+:|\/)/.test(link));
  // Resolved as a viewer of the page does: from the page's folder.
  const leads = (file: string, link: string) => exists(path.posix.join(path.posix.dirname(file), link));
  expect(findings(pages, linked, leads)).toEqual([]);
});

test('every command that a file names exists', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
  const groups = new Set(operators.map(({ name }) => name.split(' ')[0]!));
  const named = (text: string) =>
    [...text.matchAll(/\bnpm run (?:--silent )?([a-z][a-z:-]*)(?: -- ([a-z][a-z:-]*))?/g)].map(
      ([, script, what = '']) => `${script} ${what}`.trim(),
    );
  const isThere = (_file: string, name: string) => {
    const [script = '', what] = name.split(' ');
    if (!Object.hasOwn(scripts, script)) return false;
    if (what === undefined || !(script === 'prove' || script === 'ops')) return true;
    return (
      Object.hasOwn(doors[script].commands, what) ||
      (script === 'ops' && (groups.has(what) || groups.has(`${what}s`)))
    );
  };
  expect(texts.flatMap(([, text]) => named(text)).length).toBeGreaterThan(300);
  // Other packages have commands of their own.
  const ours = texts.filter(([file]) => !/^(examples|sdk|mcp|cli|gate)\//.test(file));
  expect(findings(ours, named, isThere)).toEqual([]);
});

// ---------- recipes ----------

const recipes = pages.filter(([file]) => file.startsWith('docs/recipes/'));

test('every path of a recipe exists, from the root', () => {
  const paths = (text: string) =>
    [...withoutFences(text).matchAll(/`([^`\n]+)`/g)]
      .map(([, quoted]) => quoted!)
      .filter((quoted) =>
        /^[\w.<>-]+(\/[\w.<>*-]*)+$|^[\w.-]+\.(?:ts|tsx|sql|md|json|ya?ml|css|mjs|js)$/.test(quoted),
      );
  // `<service>` is a placeholder: at least one file has that form.
  const isThere = (_file: string, name: string) =>
    globSync(name.replace(/<[^<>]*>/g, '*').replace(/\/$/, ''), { cwd: root }).length > 0;
  expect(recipes.flatMap(([, text]) => paths(text)).length).toBeGreaterThan(50);
  expect(findings(recipes, paths, isThere)).toEqual([]);
});

test('every recipe is in the index and shorter than 45 lines', () => {
  const [, index] = recipes.find(([file]) => file === 'docs/recipes/README.md')!;
  for (const [file, text] of recipes) {
    if (file !== 'docs/recipes/README.md') expect(index).toContain(`(${path.posix.basename(file)})`);
    expect({ file, isShort: text.split('\n').length <= 45 }).toEqual({ file, isShort: true });
  }
});

// ---------- decisions ----------

const decisions = pages
  .filter(([file]) => /^docs\/adr\/\d/.test(file))
  .map(([file, text]) => ({
    name: path.posix.basename(file),
    number: Number(/^docs\/adr\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]),
    heading: /^# (\d+)\. (.+)$/m.exec(text),
    status: /^Status: (accepted|superseded(?: in part)? by ADR \d+)$/m.exec(text)?.[1],
  }))
  .sort((a, b) => a.number - b.number);

test('each decision has a number of its own, in its name and in its heading', () => {
  const numbers = decisions.map(({ number }) => number);
  expect(new Set(numbers).size).toBe(numbers.length);
  expect(numbers.length).toBeGreaterThan(20);
  expect(decisions.map(({ heading }) => Number(heading?.[1]))).toEqual(numbers);
});

test('the index of the decisions has each with its title and status, in order', () => {
  const rows = [
    ...read('docs/adr/README.md').matchAll(/^\| \[(\d+)\]\(([^)]+)\) \| (.+?) \| (.+) \| (.+?) \|$/gm),
  ];
  expect(rows.map(([, number, name, title, , status]) => ({ number, name, title, status }))).toEqual(
    decisions.map(({ name, number, heading, status }) => ({
      ...{ number: String(number), name, title: heading?.[2], status },
    })),
  );
});

test('every decision that a file refers to exists', () => {
  const numbers = (text: string) =>
    [...text.matchAll(/\bADRs? (\d+)\b|\badr\/(\d{4})\b/g)].map(([, number, name]) => number ?? name!);
  const known = new Set(decisions.map(({ number }) => number));
  expect(findings(texts, numbers, (_file, number) => known.has(Number(number)))).toEqual([]);
});

// ---------- licence ----------

test('every package names the licence whose text it contains', () => {
  const packages = files.filter((file) => path.posix.basename(file) === 'package.json');
  expect(packages).toEqual(expect.arrayContaining(['package.json', 'sdk/package.json']));
  const text = read('LICENSE');
  expect(text).toContain('Apache License');
  for (const file of packages) {
    const { license, private: isPrivate } = JSON.parse(read(file));
    expect([file, license]).toEqual([file, 'Apache-2.0']);
    // `npm pack` includes a LICENSE of the package's folder.
    if (isPrivate !== true) expect(read(path.posix.join(path.posix.dirname(file), 'LICENSE'))).toBe(text);
  }
});

/** Commands that would run whatever a registry has under a name of ours. */
const FETCHED = /\bnpx(?! --no-install)[^\n`'"]* @?quittance|"-y", *"@?quittance/;

test('until the packages are published, no text runs what a stranger may publish under their names', () => {
  // The first release publishes them, and removes this sentence and this test.
  expect(read('CHANGELOG.md')).toContain('Nothing is released yet.');
  const kinds = '{md,ts,tsx,json,mjs,yaml}';
  const all = globSync([`*.${kinds}`, `{docs,sdk,mcp,cli,gate,console,examples,deploy,test}/**/*.${kinds}`], {
    cwd: root,
    exclude: (name) => /node_modules|(^|\/)dist(\/|$)|tidy-docs\.test\.ts$/.test(name),
  });
  expect(all.length).toBeGreaterThan(500);
  expect(all.filter((file) => FETCHED.test(read(file)))).toEqual([]);
  for (const text of ['npx @quittance/mcp', 'npx quittance-gate', 'npx -y @quittance/cli'])
    expect(text).toMatch(FETCHED);
});
