import { expect, test } from '@jest/globals';
import { build } from '../lib/telemetry/version.ts';
import { compareMigrations, migrationsOf, unfitFor } from './migrations.ts';

const first = { name: 'services/quote/migrations/0001_initial.sql', checksum: 'a1' };
const second = { name: 'services/quote/migrations/0002_note.sql', checksum: 'b2' };
const common = { name: 'shared/db/migrations/0001_initial.sql', checksum: 'c3' };
const own = [common, first, second];
const by = (release: string) => (migration: typeof first) => ({ ...migration, release });
const done = own.map(by('0.1.0'));
const third = by('0.2.0')({ name: 'services/quote/migrations/0003_more.sql', checksum: 'd4' });
const otherFolder = by('0.2.0')({ name: 'shared/labels/migrations/0001_initial.sql', checksum: 'e5' });
const otherSecond = by('0.1.1')({ name: 'services/quote/migrations/0002_other.sql', checksum: 'f6' });

test.each([
  ['an empty schema', [], own, 0],
  ['a schema of the release before', done.slice(0, 2), [second], 0],
  ['a schema of this build', done, [], 0],
  ['a schema that a later release has migrated', [...done, third], [], 1],
  ['a schema with a table that only a later release has', [...done, otherFolder], [], 1],
])('%s is continued', (_, applied, pending, newer) => {
  const compared = compareMigrations('quote', own, applied);
  expect(compared.pending).toEqual(pending);
  expect(compared.newer).toHaveLength(newer);
  expect(compared.refusal).toBeUndefined();
});

test.each([
  [
    'a changed file',
    [done[0]!, { ...done[1]!, checksum: '00' }, done[2]!],
    /^quote: services\/quote\/migrations\/0001_initial\.sql is not the file that release 0\.1\.0 has applied: use a build that has that file \(SHA-256 00…\)/,
  ],
  [
    'another file of the same number',
    [done[0]!, done[1]!, otherSecond],
    /^quote: services\/quote\/migrations\/0002_other\.sql was applied by release 0\.1\.1 and is not part of this build .*: use a build that continues that release$/,
  ],
  [
    'another file between ours',
    [...done, otherSecond],
    /^quote: services\/quote\/migrations\/0002_other\.sql was applied by release 0\.1\.1 and is not part/,
  ],
  [
    'a later release without all of ours',
    [done[0]!, done[1]!, third],
    /^quote: services\/quote\/migrations\/0003_more\.sql was applied by release 0\.2\.0 and is not part/,
  ],
  [
    'a migration that has moved to another folder',
    [done[0]!, done[1]!, { ...otherFolder, checksum: second.checksum }],
    /^quote: shared\/labels\/migrations\/0001_initial\.sql was applied/,
  ],
])('%s is refused in one line that says what to do', (_, applied, text) => {
  const { refusal } = compareMigrations('quote', own, applied);
  expect(refusal).toMatch(text);
  expect(refusal).not.toContain('\n');
});

test('a schema has what all have, what its calls and lanes need, and its own, in this order', () => {
  const folders = (service: Parameters<typeof migrationsOf>[0]) => [
    ...new Set(migrationsOf(service).map(({ name }) => name.split('/migrations/')[0])),
  ];
  expect(folders('settlement').slice(0, 2)).toEqual(['shared/db', 'shared/lanes']);
  expect(folders('webhook').slice(0, 2)).toEqual(['shared/db', 'shared/idempotency']);
  expect(folders('settlement')).toContain('services/settlement');
});

test('a service runs only where everything that it needs is applied', () => {
  const applied = migrationsOf('quote').map(by('0.1.0'));
  expect(unfitFor('quote', applied)).toBeUndefined();
  expect(
    unfitFor('quote', [...applied, { ...third, name: 'services/quote/migrations/9999_later.sql' }]),
  ).toBeUndefined();
  expect(unfitFor('quote', applied.slice(0, -1))).toBe(
    `quote: ${applied.at(-1)!.name} is not applied: run the job migrate of this build (${build.version}) first`,
  );
  expect(unfitFor('quote', null)).toMatch(/^quote: shared\/db\/\S+ is not applied: run the job migrate/);
  expect(unfitFor('quote', [{ ...applied[0]!, checksum: '00' }, ...applied.slice(1)])).toMatch(
    /is not the file/,
  );
});
