import type { Schema } from './schema.ts';

/** The parts of the surface, as docs/versioning.md names its rows. */
export const PARTS = [
  'API',
  'Events',
  'SDK',
  'CLI',
  'Tools',
  'Settings',
  'gate.yaml',
  'Metrics',
  'Bus',
] as const;
export type PartName = (typeof PARTS)[number];

/** One thing that others build on: an operation, an event, a metric, a command. */
export type Entry = {
  /** What others send us. */
  takes?: Schema;
  /** What we send others. */
  gives?: Schema;
  /** What services of two versions send each other. The reader ignores unknown fields. */
  passes?: Schema;
  /** The same for a reader that refuses them. */
  asks?: Schema;
  /** A type, which is compared as functions use it: as what they take, or what they return. */
  shape?: Schema;
  /** A later release removes it. */
  deprecated?: boolean;
  /** How many calls are served. */
  limits?: Record<string, number>;
  errors?: readonly string[];
  /** What may not change: a unit, a kind. */
  is?: Record<string, string>;
};
export type Part = { entries: Record<string, Entry>; definitions: Record<string, Schema> };
/** All that others build on. A part is missing where an older release did not write it. */
export type Surface = Partial<Record<PartName, Part>>;

/** Texts of a schema, which are no promise. */
const TEXTS = new Set(['description', 'title', 'examples', 'example', 'id', '$id', '$schema', '$defs']);
/** The sentence by which a description allows further values (docs/versioning.md). */
const FURTHER_VALUES = 'There may be further ones';
/** Bounds of every integer, which zod writes. */
const isNoBound = (value: unknown): boolean => Math.abs(Number(value)) === Number.MAX_SAFE_INTEGER;

type Json = Record<string, unknown>;
const isObject = (node: unknown): node is Json =>
  typeof node === 'object' && node !== null && !Array.isArray(node);

/** A JSON Schema without its texts. */
export const slim = (node: unknown): Schema => {
  if (!isObject(node)) return {};
  const mapped = (schemas: unknown) =>
    Object.fromEntries(Object.entries(schemas as Json).map(([name, each]) => [name, slim(each)]));
  const entries = Object.entries(node)
    .filter(([key, value]) => !TEXTS.has(key) && !isNoBound(value))
    .map(([key, value]): [string, unknown] => {
      if (key === 'properties') return [key, mapped(value)];
      if (['anyOf', 'oneOf', 'allOf', 'prefixItems'].includes(key))
        return [key, (value as unknown[]).map(slim)];
      return [key, isObject(value) && key !== 'default' && key !== 'const' ? slim(value) : value];
    });
  const isOpen = typeof node.description === 'string' && node.description.includes(FURTHER_VALUES);
  return { ...Object.fromEntries(entries), ...(isOpen && { further: true }) } as Schema;
};

/** Definitions of some schemas, by their names, sorted so that the file does not move. */
export const sorted = <T>(record: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
