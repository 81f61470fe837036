import { globSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** A program that ends with 0 if the tree is as it must be. */
export type Check = {
  name: string;
  /**
   * Arguments of Node.
   * @param kept a folder for what makes the next run faster
   */
  command: (kept: string) => readonly string[];
  /**
   * What it reads, as patterns of git. While nothing of it changes, the check is not repeated.
   * Without it the check reads the whole tree.
   */
  reads?: readonly string[];
  /** It reads each file by itself, with these settings: it gets the changed files as arguments. */
  byFile?: { settings: readonly string[] };
};

/** What no page and no package imports. */
const SERVERS_ONLY = ['services', 'test', 'bench', 'k8s', 'examples', '*.md', '*.test.ts', '*.sql'];
const PAGES = ['.', ...SERVERS_ONLY.map((each) => `:!${each}`)];
/** What a compiler reads. Only the console imports the console (test/tidy.test.ts). */
const SOURCES = ['*.ts', '*.tsx', '*.mts', '*.mjs', '*.js', '*.json', ':!console'];

const ALARMS = ['test/alerts.test.ts', 'test/alerts.cases.test.ts'];
const RULES = [
  ...globSync('test/tidy*.test.ts').sort(),
  ...['contract', 'openapi', 'state-machines', 'threat-model', 'refusals', 'retention', 'security-notes'].map(
    (name) => `test/${name}.test.ts`,
  ),
];

/**
 * The native compiler (docs/design/choices.md). Each further checker costs more CPU, and another
 * check runs beside it.
 */
const CHECKERS = String(Math.ceil(availableParallelism() / 2));
const types = (name: string, project: string, reads: readonly string[]): Check => ({
  name,
  command: (kept) => [
    'node_modules/typescript-native/bin/tsc',
    '--project',
    project,
    '--noEmit',
    '--checkers',
    CHECKERS,
    '--incremental',
    '--tsBuildInfoFile',
    `${kept}/tsbuildinfo`,
  ],
  reads,
});

const rules = (kept: string, files: readonly string[]) => [
  // Most of the memory are syntax trees, which the collector would copy again and again.
  '--max-semi-space-size=128',
  'tools/check/rules.ts',
  kept,
  ...files,
];

/** The longest first, so that none of them is left alone at the end. */
export const checks: readonly Check[] = [
  {
    name: 'format and lint',
    command: () => ['node_modules/@biomejs/biome/bin/biome', 'check', '--no-errors-on-unmatched'],
    reads: ['.', ...['*.md', '*.sql', '*.svg', '*.png', '*.astro'].map((each) => `:!${each}`)],
    byFile: { settings: ['biome.json', '.gitignore'] },
  },
  types('types', '.', SOURCES),
  { name: 'rules of the tree', command: (kept) => rules(kept, RULES) },
  { name: 'generated files', command: () => ['tools/generate.ts', '--check'] },
  {
    name: 'changes since the release',
    command: () => ['tools/compare/main.ts', '--check'],
    // Git is asked for tags each time that one of these files changes.
    reads: ['docs/openapi.json', 'docs/surface.json', 'tools/compare'],
  },
  types('types of the console', 'console', PAGES),
  types('types of the documentation', 'docs/site', PAGES),
  types('types of the SDK', 'sdk', ['sdk']),
  {
    name: 'rules of the alarms',
    command: (kept) => rules(kept, ALARMS),
    reads: [...ALARMS, 'deploy', 'shared', 'tools/k8s', 'docs/*.md'],
  },
  {
    name: 'migrations',
    command: () => ['tools/lint-migrations.ts'],
    reads: ['services/*/migrations', 'shared/*/migrations', 'tools/lint-migrations.ts', 'package-lock.json'],
  },
  {
    name: 'schemas',
    command: () => ['tools/dump-schema.ts', '--check'],
    reads: [
      'services/*/migrations',
      'services/*/schema.sql',
      'shared',
      'deploy/local/servers',
      'tools/dump-schema.ts',
      'test/support/servers',
    ],
  },
];
