/**
 * What an interface takes or gives, as JSON Schema without texts, and with three keywords of ours
 * for what JSON Schema cannot say.
 */
export type Schema = {
  $ref?: string;
  type?: string | readonly string[];
  enum?: readonly unknown[];
  const?: unknown;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: boolean | Schema;
  propertyNames?: Schema;
  items?: Schema;
  prefixItems?: readonly Schema[];
  anyOf?: readonly Schema[];
  oneOf?: readonly Schema[];
  allOf?: readonly Schema[];
  pattern?: string;
  format?: string;
  default?: unknown;
  deprecated?: boolean;
  /** The description says that values are added in minor versions. */
  further?: true;
  /** A type of TypeScript by its text. */
  ts?: string;
  /** A function. */
  call?: { params: readonly Schema[]; optional: number; returns: Schema };
} & { [bound in Bound]?: number };

/** Keywords that bound a value, with the direction in which the bound admits more. */
export const BOUNDS = {
  minimum: 'lower',
  exclusiveMinimum: 'lower',
  minLength: 'lower',
  minItems: 'lower',
  maximum: 'higher',
  exclusiveMaximum: 'higher',
  maxLength: 'higher',
  maxItems: 'higher',
} as const;
type Bound = keyof typeof BOUNDS;

export type Definitions = Readonly<Record<string, Schema>>;

/** A schema without references, alternatives and bases. */
export type Member = {
  schema: Schema;
  /** Its name, and the reference, if it was referred to. */
  name?: string;
  ref?: string;
  /** The object that declares a field, where that is a base of this one. */
  owners: Readonly<Record<string, string>>;
};

const DEFINITION = /^#\/(definitions|\$defs|components\/schemas)\//;
/** `Price` of a reference to `pay/base/price.Price`. */
const nameOf = (reference: string): string =>
  reference.replace(DEFINITION, '').replace(/^.*[./](?=[^./])/, '');

const definitionOf = (reference: string, definitions: Definitions): Schema => {
  const found = definitions[reference.replace(DEFINITION, '')];
  if (found === undefined) throw new Error(`${reference} is not defined`);
  return found;
};

type Named = Pick<Member, 'schema' | 'name' | 'ref'>;
const named = (schema: Schema, definitions: Definitions): Named => {
  const { $ref } = schema;
  if ($ref === undefined) return { schema };
  const inner = named(definitionOf($ref, definitions), definitions);
  return { schema: inner.schema, name: nameOf($ref), ref: $ref };
};

/** An object with the fields of the objects that it extends. */
const withBases = (given: Schema, definitions: Definitions): Member => {
  const { schema, ...reference } = named(given, definitions);
  if (schema.allOf === undefined) return { schema, ...reference, owners: {} };
  const { allOf, ...own } = schema;
  const bases = allOf.map((each) => withBases(each, definitions));
  const parts = [...bases.map((base) => base.schema), own];
  const ownersOf = ({ schema: base, name, owners }: Member) => ({
    ...(name && Object.fromEntries(Object.keys(base.properties ?? {}).map((key) => [key, name]))),
    ...owners,
  });
  return {
    ...reference,
    schema: {
      ...Object.assign({}, ...parts),
      properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
      required: parts.flatMap(({ required = [] }) => required),
    },
    owners: Object.assign({}, ...bases.map(ownersOf)),
  };
};

/** The alternatives of a schema: one, unless it is a union. */
export const membersOf = (given: Schema, definitions: Definitions): Member[] => {
  const { schema, ...reference } = named(given, definitions);
  const alternatives = schema.anyOf ?? schema.oneOf;
  if (alternatives !== undefined && schema.properties === undefined)
    return alternatives.flatMap((each) => membersOf(each, definitions));
  if (Array.isArray(schema.type))
    return schema.type.map((type) => ({ schema: { ...schema, type }, ...reference, owners: {} }));
  return [withBases(given, definitions)];
};

/** The values of an enumeration or constant. */
export const valuesOf = ({ enum: values, const: value }: Schema): readonly unknown[] | undefined =>
  values ?? (value === undefined ? undefined : [value]);

/** What a schema is in a word: its type, or `any`. */
export const kindOf = (schema: Schema): string => {
  if (schema.ts !== undefined) return schema.ts;
  if (schema.call !== undefined) return 'function';
  if (typeof schema.type === 'string') return schema.type;
  const [value] = valuesOf(schema) ?? [];
  if (value !== undefined) return value === null ? 'null' : typeof value;
  return schema.properties === undefined ? 'any' : 'object';
};
