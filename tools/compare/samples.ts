import { newId } from '../../shared/lib/id.ts';
import type { Definitions, Schema } from './schema.ts';

/** Messages that a schema describes: with all optional fields, without them, and of each option. */

/** Texts, of which the first one that fits is taken. */
const TEXTS = [
  'a text',
  '2026-11-21T10:00:00.000Z',
  '12',
  '1.50',
  'USDC',
  'EUR',
  'USD',
  '4f5a9f0e-1b2c-4d3e-8f90-0123456789ab',
  'https://vendor.example',
  'bPGrPT2fSzXVNTAm8cWjK3kPVbPdDkZ1eH4cC9bTgqg',
  'aGVhZGVy.c2lnbmF0dXJl',
  '7'.repeat(44),
  '7'.repeat(88),
  'a'.repeat(64),
  'AAAA',
  'a',
];

const textOf = ({ pattern, minLength = 0, maxLength = Number.MAX_SAFE_INTEGER }: Schema): string => {
  const form = new RegExp(pattern ?? '', 'u');
  const prefix = /^\^([a-z]+)_/.exec(pattern ?? '')?.[1];
  const texts = prefix === undefined ? TEXTS : [newId(prefix as Parameters<typeof newId>[0])];
  const found = texts.find((text) => form.test(text) && text.length >= minLength && text.length <= maxLength);
  if (found === undefined) throw new Error(`no sample has the form ${pattern}`);
  return found;
};

type Choice = { definitions: Definitions; isFull: boolean; option: number; depth: number };

const objectOf = (schema: Schema, choice: Choice): Record<string, unknown> => {
  const { properties = {}, required = [], additionalProperties: others } = schema;
  const fields = Object.entries(properties).filter(([name]) => choice.isFull || required.includes(name));
  const sample = Object.fromEntries(fields.map(([name, field]) => [name, sampleOf(field, choice)]));
  if (typeof others !== 'object' || !choice.isFull) return sample;
  const name = schema.propertyNames === undefined ? 'name' : String(sampleOf(schema.propertyNames, choice));
  return { ...sample, [name]: sampleOf(others, choice) };
};

const listOf = ({ items = {}, prefixItems, minItems = 0 }: Schema, choice: Choice): unknown[] => {
  if (prefixItems !== undefined) return prefixItems.map((each) => sampleOf(each, choice));
  return Array.from({ length: Math.max(minItems, choice.isFull ? 1 : 0) }, () => sampleOf(items, choice));
};

/** JSON in JSON ends here. */
const DEEPEST = 12;

const sampleOf = (schema: Schema, above: Choice): unknown => {
  const choice = { ...above, depth: above.depth + 1 };
  if (choice.depth > DEEPEST) Object.assign(choice, { isFull: false, option: 0 });
  const { $ref, const: constant, enum: values, anyOf, oneOf = anyOf, allOf, type } = schema;
  if ($ref !== undefined) return sampleOf(choice.definitions[$ref.split('/').at(-1)!]!, choice);
  if ('const' in schema) return constant;
  if (values !== undefined) return values[choice.option % values.length];
  if (oneOf !== undefined) return sampleOf(oneOf[choice.option % oneOf.length]!, choice);
  if (allOf !== undefined) return Object.assign({}, ...allOf.map((each) => sampleOf(each, choice)));
  switch (Array.isArray(type) ? type[choice.option % type.length] : type) {
    case 'object':
      return objectOf(schema, choice);
    case 'array':
      return listOf(schema, choice);
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return choice.option % 2 === 0;
    case 'null':
      return null;
    default:
      return { any: 'value' };
  }
};

/** Enough for every option of the largest union. */
const OPTIONS = 8;

/** Messages of a schema. */
export const samplesOf = (schema: Schema, definitions: Definitions): unknown[] =>
  Array.from({ length: OPTIONS }, (_, option) => option).flatMap((option) =>
    [true, false].map((isFull) => sampleOf(schema, { definitions, isFull, option, depth: 0 })),
  );
