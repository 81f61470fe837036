import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Added, since, WRITTEN, write } from './since.ts';

const Shape = z.strictObject({
  id: z.string(),
  state: z.union([z.enum(['open', 'ended']), since('99.0.0', z.literal('paused'))]),
  reason: since('99.0.0', z.string()).optional(),
});
type Shape = z.infer<typeof Shape>;

test('what this release adds is read, and nothing that writes it compiles', () => {
  const given = { id: '1', state: 'paused', reason: 'later' };
  const { state, reason }: Shape = Shape.parse(given);
  const text: string | undefined = reason;
  expect([state, text]).toEqual(['paused', 'later']);

  const written: Shape = { id: '1', state: 'open' };
  // @ts-expect-error a later release writes it
  const field: Shape = { ...written, reason: 'later' };
  // @ts-expect-error a later release writes it
  const value: Shape = { id: '1', state: 'paused' };
  // @ts-expect-error no earlier release has added it
  const early: Shape = { ...written, reason: write('99.0.0', 'later') };
  expect([field.id, value.id, early.id]).toEqual(['1', '1', '1']);
});

test('what an earlier release has added is written', () => {
  const writeLater = write as <T>(release: '99.0.0', value: T) => Added<'99.0.0', T>;
  const written: Shape = {
    id: '1',
    state: writeLater('99.0.0', 'paused' as const),
    reason: writeLater('99.0.0', 'x'),
  };
  expect(Shape.parse(written)).toEqual({ id: '1', state: 'paused', reason: 'x' });
});

test('only earlier releases are written', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const earlier = (release: string) => release.localeCompare(version, undefined, { numeric: true }) < 0;
  expect(WRITTEN.filter((release) => !earlier(release))).toEqual([]);
});

test('the document says since when a field is there', () => {
  expect(z.toJSONSchema(Shape)).toMatchObject({
    properties: { reason: { type: 'string', since: '99.0.0' } },
  });
});
