import type { z } from 'zod';

/**
 * Reading what another version has written. Messages, stored requests and answers between services
 * may have fields that this version does not know. They are dropped, so that two versions can run
 * beside each other (docs/adr/0093-two-versions.md). What clients send stays strict.
 */

type Path = readonly PropertyKey[];
type Issue = z.core.$ZodIssue;

/** The unknown fields that the issues are about. Null: there is another fault. */
const unknownFields = (issues: readonly Issue[], at: Path = []): Path[] | null => {
  const fields = issues.map((issue) => fieldsOf(issue, [...at, ...issue.path]));
  return fields.every((each) => each !== null) ? fields.flat() : null;
};

const fieldsOf = (issue: Issue, at: Path): Path[] | null => {
  if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => [...at, key]);
  if (issue.code !== 'invalid_union') return null;
  const ofOptions = issue.errors.map((issues) => unknownFields(issues, at)).filter((each) => each !== null);
  // The option that loses the least is the one that was meant.
  return ofOptions.sort((a, b) => a.length - b.length)[0] ?? null;
};

/** A copy of a JSON value without these fields. */
const without = (value: unknown, fields: readonly Path[]): unknown => {
  const copy = structuredClone(value);
  for (const field of fields) {
    const holder = field
      .slice(0, -1)
      .reduce((held, key) => (held as Record<PropertyKey, unknown>)[key], copy);
    delete (holder as Record<PropertyKey, unknown>)[field.at(-1)!];
  }
  return copy;
};

/**
 * Parses a JSON value that another version may have written. Only a value with unknown fields costs
 * more than a parse. A field that is missing, or has a value that this version does not know, is a
 * fault as ever.
 */
export const readKnown = <S extends z.ZodType>(
  schema: S,
  value: unknown,
): z.ZodSafeParseResult<z.infer<S>> => {
  const parsed = schema.safeParse(value);
  const unknown = parsed.success ? null : unknownFields(parsed.error.issues);
  return unknown === null ? parsed : schema.safeParse(without(value, unknown));
};

/** As `readKnown`. @throws ZodError */
export const parseKnown = <S extends z.ZodType>(schema: S, value: unknown): z.infer<S> => {
  const { success, data, error } = readKnown(schema, value);
  if (!success) throw error;
  return data;
};
