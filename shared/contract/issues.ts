import { z } from 'zod';
import { nearest } from './nearest.ts';

/**
 * What is wrong with an input, as a text for the caller: what the value must be, and what kind of
 * value was sent. It never contains a sent value, which may be a secret.
 */
type FieldIssue = { path: string; message: string };

type RawIssue = z.core.$ZodRawIssue;
type IssueOf<Code extends z.core.$ZodIssueCode> = Extract<RawIssue, { code: Code }>;

const MAX_ISSUES = 20;
const MAX_ALLOWED = 20;
/** The longest own message is a list of the allowed fields. */
const MAX_MESSAGE = 600;
const MAX_NAME = 64;

const quoted = (value: unknown): string => JSON.stringify(value);
const oneOf = (values: readonly unknown[]): string => {
  const shown = values.slice(0, MAX_ALLOWED).map(quoted);
  return shown.length < 2 ? shown.join('') : `${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`;
};

/** The kind of a sent value. */
const kindOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  switch (typeof value) {
    case 'string':
      return value === '' ? 'an empty string' : 'a string';
    case 'number':
      if (!Number.isFinite(value)) return 'a number that is too large';
      return Number.isInteger(value) ? 'a number' : 'a number with a fraction';
    case 'boolean':
      return 'true or false';
    default:
      return 'an object';
  }
};

const EXPECTED: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const metaOf = (schema: RawIssue['schema']) =>
  schema === undefined ? undefined : z.globalRegistry.get(schema as z.ZodType);
const exampleOf = (schema: RawIssue['schema']): string => {
  const [example] = (metaOf(schema)?.examples ?? []) as unknown[];
  return example === undefined ? '' : `, for example ${quoted(example)}`;
};

/**
 * The named type of a field. A field with a description of its own is a copy without the id, and
 * that description is of the field, not of its form.
 */
const typeOf = (schema: RawIssue['schema']) => {
  for (let each = schema; each !== undefined; each = each._zod.parent) {
    const meta = metaOf(each);
    if (meta?.id !== undefined) return meta;
  }
  return undefined;
};

const isAmount = (schema: RawIssue['schema']): boolean =>
  typeOf(schema)?.id?.startsWith('MicroUsdc') === true;

/** zod expects a number first, and then one without a fraction. */
const isWhole = (schema: RawIssue['schema']): boolean =>
  (schema?._zod.def as { format?: string } | undefined)?.format?.includes('int') === true;

const ofType = ({ expected, input, schema }: IssueOf<'invalid_type'>): string => {
  const whole = expected === 'number' && isWhole(schema);
  const name = isAmount(schema) ? 'a string of digits' : EXPECTED[whole ? 'int' : expected];
  return `must be ${name ?? 'of another type'}${exampleOf(schema)}; got ${kindOf(input)}`;
};

const UNITS: Record<string, string> = { string: 'characters', array: 'items' };
const counted = (count: number | bigint, unit: string): string =>
  `${count} ${count === 1 ? unit.slice(0, -1) : unit}`;

const ofSmall = ({ origin, minimum, inclusive }: IssueOf<'too_small'>): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${inclusive === false ? 'more than' : 'at least'} ${minimum}`;
  return minimum === 1 ? 'must not be empty' : `must have at least ${counted(minimum, unit)}`;
};

const ofBig = ({ origin, maximum, inclusive }: IssueOf<'too_big'>): string => {
  const unit = UNITS[origin];
  if (unit === undefined) return `must be ${inclusive === false ? 'less than' : 'at most'} ${maximum}`;
  return `must have at most ${counted(maximum, unit)}`;
};

const FORMATS: Record<string, string> = {
  email: 'an e-mail address',
  url: 'a URL with its scheme, such as https://',
  date: 'a date as YYYY-MM-DD',
  datetime: 'a time as ISO 8601 in UTC',
  uuid: 'a UUID',
};

const ofFormat = ({ format, schema }: IssueOf<'invalid_format'>): string => {
  const name = FORMATS[format] ?? typeOf(schema)?.description;
  return name === undefined
    ? `has the wrong form${exampleOf(schema).replace(', for example', '; send for example')}`
    : `must be ${name}${exampleOf(schema)}`;
};

/** Alternatives that differ by their kind alone, as one sentence; null for others. */
const ofKinds = (messages: readonly string[]): string | null => {
  const parts = messages.map((message) => /^must be ([^;,]+); got (.+)$/.exec(message));
  if (parts.some((part) => part === null || part[2] !== parts[0]![2])) return null;
  const kinds = [...new Set(parts.map((part) => part![1]!))];
  const shown = kinds.length < 2 ? kinds.join('') : `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`;
  return `must be ${shown}; got ${parts[0]![2]}`;
};

/** What each alternative requires, once. */
const ofUnion = (issue: IssueOf<'invalid_union'>): string => {
  // The path of such an issue ends with the field that names the alternative.
  const { options } = issue as { options?: readonly unknown[] };
  if (options !== undefined) return `must be ${oneOf(options)}`;
  const alternatives = (issue.errors as z.core.$ZodIssue[][])
    .map((errors) => errors[0])
    .filter((first) => first !== undefined);
  const messages = alternatives.map(({ path, message }) =>
    path.length === 0 ? message : `${path.join('.')} ${message}`,
  );
  return ofKinds(messages) ?? [...new Set(messages)].join(', or ');
};

const ofKey = ({ issues }: IssueOf<'invalid_key'>): string =>
  `has a field name that is not allowed: it ${issues[0]?.message ?? 'has the wrong form'}`;

/** The message of an issue whose schema has none of its own. */
const messageOf = (issue: RawIssue): string => {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return ofType(issue);
    case 'too_small':
      return ofSmall(issue);
    case 'too_big':
      return ofBig(issue);
    case 'invalid_format':
      return ofFormat(issue);
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`;
    case 'invalid_union':
      return ofUnion(issue);
    case 'invalid_key':
      return ofKey(issue);
    default:
      return 'is not valid';
  }
};

/** A shorter word is in too many names. */
const MIN_WORD = 4;
/** More names than these are no help. */
const MAX_MEANT = 2;
const plain = (name: string): string => name.replaceAll(/[^A-Za-z0-9]/g, '').toLowerCase();

/** The allowed name that was probably meant: the nearest one, or those with this word. */
const meantBy = (name: string, allowed: readonly string[]): readonly string[] => {
  if (name.length > MAX_NAME) return [];
  const near = nearest(name, allowed);
  if (near !== undefined) return [near];
  const withWord = allowed.filter((each) => name.length >= MIN_WORD && each.split('_').includes(plain(name)));
  return withWord.length <= MAX_MEANT ? withWord : [];
};

const unknownField = (name: string, allowed: readonly string[]): string => {
  if (allowed.length === 0) return 'unknown field; no field is allowed here';
  const meant = meantBy(name, allowed);
  const more = allowed.length > MAX_ALLOWED ? ', …' : '';
  const list = `${allowed.slice(0, MAX_ALLOWED).join(', ')}${more}`;
  return meant.length === 0
    ? `unknown field; allowed: ${list}`
    : `unknown field; did you mean ${meant.map((each) => `\`${each}\``).join(' or ')}? Allowed: ${list}`;
};

const fieldsOf = (schema: RawIssue['inst']): string[] =>
  schema instanceof z.ZodObject ? Object.keys(schema.shape as object) : [];

/**
 * Everything that is wrong with an input that the schema refuses, at most 20 issues. A misspelt
 * field is first, because it is also the cause of a required one that is missing.
 */
export const inputIssues = (schema: z.ZodType, value: unknown): FieldIssue[] => {
  const allowed = new Map<string, string[]>();
  const parsed = schema.safeParse(value, {
    error: (issue) => {
      if (issue.code === 'unrecognized_keys') allowed.set((issue.path ?? []).join('.'), fieldsOf(issue.inst));
      return messageOf(issue);
    },
  });
  const issues = (parsed.error?.issues ?? []).slice(0, MAX_ISSUES).flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== 'unrecognized_keys') return [{ path: path.join('.'), message: issue.message }];
    const known = allowed.get(path.join('.')) ?? [];
    return issue.keys.map((key) => ({
      path: [...path, key.slice(0, MAX_NAME)].join('.'),
      message: unknownField(key, known),
    }));
  });
  const isMisspelt = ({ message }: FieldIssue) => message.startsWith('unknown field; did you mean');
  return [...issues.filter(isMisspelt), ...issues.filter((issue) => !isMisspelt(issue))]
    .slice(0, MAX_ISSUES)
    .map(({ path, message }) => ({ path, message: message.slice(0, MAX_MESSAGE) }));
};
