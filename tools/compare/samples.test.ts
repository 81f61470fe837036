import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { readKnown } from '../../shared/contract/read.ts';
import { readers } from './inside.ts';
import { samplesOf } from './samples.ts';
import type { Definitions, Schema } from './schema.ts';
import { lastRelease, presentSurface } from './stored.ts';

/**
 * Each message that services leave or send each other, as the last release writes it, is read by
 * this tree, and the reverse.
 */
const released = lastRelease()!.surface.Bus!;
const present = presentSurface().surface.Bus!;
const own = await readers();

const passes = ({ entries }: typeof present): [name: string, schema: Schema][] =>
  Object.entries(entries).flatMap(([name, entry]) =>
    entry.passes === undefined ? [] : [[name, entry.passes] as [string, Schema]],
  );
const unread = (reader: z.ZodType, messages: readonly unknown[]) =>
  messages.flatMap((message) => {
    const { error } = readKnown(reader, message);
    return error === undefined ? [] : [{ message, issues: error.issues }];
  });
/**
 * The reader that a release has for a message. zod makes regular expressions without the flag that
 * classes of Unicode need, so the forms of labels are left out.
 */
const readerOf = (schema: Schema, definitions: Definitions): z.ZodType =>
  z.fromJSONSchema(
    JSON.parse(JSON.stringify({ ...schema, $defs: definitions }), (key, value) =>
      key === 'pattern' && String(value).includes('\\p{') ? undefined : value,
    ),
  );

test.each(passes(released))('%s of the last release is read', (name, schema) => {
  expect(unread(own[name]!, samplesOf(schema, released.definitions))).toEqual([]);
});

test.each(passes(present))('%s is read by the last release', (name, schema) => {
  const before = released.entries[name]?.passes;
  // The last release has no reader for what is new.
  if (before === undefined) return;
  expect(unread(readerOf(before, released.definitions), samplesOf(schema, present.definitions))).toEqual([]);
});

test('what another version cannot read is found', () => {
  const schema = passes(present).find(([name]) => name === 'event settlement.issued')![1];
  const reader = readerOf(schema, present.definitions);
  const changed = (change: Partial<Schema>) => samplesOf({ ...schema, ...change }, present.definitions);
  const { tx_hash, ...others } = schema.properties!;
  expect(
    unread(reader, changed({ properties: { ...schema.properties, later: { type: 'string' } } })),
  ).toEqual([]);
  expect(unread(reader, changed({ properties: others, required: Object.keys(others) }))).not.toEqual([]);
  expect(unread(reader, changed({ properties: { ...others, tx_hash: { type: 'null' } } }))).not.toEqual([]);
  expect(tx_hash).toBeDefined();
});
