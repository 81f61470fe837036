import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { document, MUTANTS, present } from '../../test/support/rules/surface-mutants.ts';
import { unaccepted } from './accepted.ts';
import { apiParts } from './api.ts';
import { lineOf, strongestOf, surfaceChanges, wordOf } from './changes.ts';
import { PARTS, type Surface } from './surface.ts';

/** Each row of docs/versioning.md, by changes that must be classed as it says. */

test.each(MUTANTS)('%s: %s: %s', (row, _what, expected, changed) => {
  // Events share the shapes of the API.
  const compared = ({ API: api, [row]: own }: Surface): Surface => ({ API: api!, [row]: own! });
  const own = surfaceChanges(compared(present), compared(changed)).filter(({ part }) => part === row);
  expect([strongestOf(own), own.map(lineOf)]).toEqual([expected, own.map(lineOf)]);
  // No more than the lines of the change itself: the thing, and the way in which it got away.
  if (expected !== 'none') expect(own.length).toBeGreaterThan(0);
  expect(own.length).toBeLessThanOrEqual(3);
});

test('every row of docs/versioning.md that is compared has mutants of both kinds', () => {
  const rows = [
    ...readFileSync(path.resolve(import.meta.dirname, '../../docs/versioning.md'), 'utf8').matchAll(
      /^\| (\w[^|]*|`gate[^|]*) \|/gm,
    ),
  ].map(([, name]) => name!);
  const names = rows.map((row) => row.replaceAll('`', '').replace(/ \(.*/, ''));
  expect(names).toEqual(['Interface', ...PARTS, 'Database', 'Images']);
  for (const part of PARTS) {
    const classes = MUTANTS.filter(([row]) => row === part).map(([, , expected]) => expected);
    expect(classes).toContain('major');
    expect(classes.some((each) => each !== 'major')).toBe(true);
  }
});

test('the surface has no change since itself, and a part that is not stored is not compared', () => {
  expect(surfaceChanges(present, structuredClone(present))).toEqual([]);
  const { API: api, Events } = present;
  expect(surfaceChanges({ API: api!, Events: Events! }, present)).toEqual([]);
});

test('a field of several shapes makes one line, and the bus has words of its own', () => {
  const copy = structuredClone(document);
  for (const name of ['Quote', 'Refund', 'Withdrawal', 'Deposit', 'Service'])
    copy.components.schemas[name]!.properties.later = { type: 'string' };
  expect(surfaceChanges({ API: present.API! }, { API: apiParts(copy).API }).map(lineOf)).toEqual([
    expect.stringMatching(/^API (\w+\.later, ){3}2 more: is new$/),
  ]);
  const change = { part: 'Bus', place: 'a', what: 'b' } as const;
  expect((['major', 'minor', 'none'] as const).map((each) => wordOf({ ...change, class: each }))).toEqual([
    ...['breaking', 'needs order', 'free'],
  ]);
});

test('a major change needs its line or a higher major version, and a line needs its change', () => {
  const change = { part: 'API', place: 'Quote.id', what: 'is gone', class: 'major' } as const;
  const versions = { before: '1.2.0', after: '1.3.0' };
  const faults = (accepted: string, after = '1.3.0') =>
    unaccepted([change, { ...change, place: 'x', class: 'minor' }], {
      accepted,
      versions: { ...versions, after },
    });
  expect(faults('')).toEqual([expect.stringContaining('API Quote.id: is gone\n  breaks')]);
  expect(faults('# why\n\nAPI Quote.id: is gone\n')).toEqual([]);
  expect(faults('', '2.0.0')).toEqual([]);
  expect(faults('API Quote.id: is gone\nAPI x: is gone')).toEqual([
    expect.stringContaining('API x: is gone\n  is no'),
  ]);
});
