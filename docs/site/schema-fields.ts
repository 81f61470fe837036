// The fields of a JSON schema as rows of a table.

export type Schema = {
  $ref?: string;
  type?: string | string[];
  description?: string | undefined;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};
export type OpenApi = { components: Record<string, Record<string, unknown>> };
type Field = { name: string; type: string; required: boolean; text: string };
export type Fields = Field[];

const MAX_DEPTH = 3;

/** A part of the document, through its reference. What stands beside the reference counts more. */
export const schemaAt = <T extends object>(document: OpenApi, part: T & { $ref?: string }): T => {
  if (part.$ref === undefined) return part;
  const [, , kind, name] = part.$ref.split('/');
  const { $ref: _ref, ...beside } = part;
  return { ...schemaAt<T>(document, document.components[kind!]![name!] as T), ...beside };
};

const alternatives = ({ anyOf, oneOf }: Schema): Schema[] => anyOf ?? oneOf ?? [];
const isNull = ({ type }: Schema): boolean => type === 'null';

const literal = (value: unknown): string => `\`${JSON.stringify(value)}\``;

/** A type in words: "array of string", `"a"` or `"b"`. */
const typeOf = (document: OpenApi, given: Schema): string => {
  const schema = schemaAt(document, given);
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return schema.enum.map(literal).join(', ');
  if (schema.type === 'array') return `array of ${typeOf(document, schema.items ?? {})}`;
  const several = alternatives(schema).map((each) => typeOf(document, each));
  if (several.length > 0) return [...new Set(several)].join(' or ');
  return [schema.type ?? 'any'].flat().join(' or ');
};

const bounds = ({ minimum, maximum, minLength, maxLength, minItems, maxItems }: Schema): string[] => {
  const span = (low: number | undefined, high: number | undefined, unit: string): string[] => {
    if (high === undefined || high >= Number.MAX_SAFE_INTEGER) return [];
    return [`${(low ?? 0).toLocaleString('en-US')} to ${high.toLocaleString('en-US')}${unit}`];
  };
  return [
    ...span(minimum, maximum, ''),
    ...span(minLength, maxLength, ' characters'),
    ...span(minItems, maxItems, ' items'),
  ];
};

const textOf = (document: OpenApi, given: Schema): string => {
  const schema = schemaAt(document, given);
  const limits = [
    ...bounds(schema),
    ...(schema.default === undefined ? [] : [`default ${literal(schema.default)}`]),
  ];
  return [schema.description, limits.length === 0 ? undefined : `(${limits.join('; ')})`]
    .filter(Boolean)
    .join(' ');
};

/** The object inside a schema: itself, its items, or its only alternative besides null. */
const objectIn = (document: OpenApi, given: Schema): { object: Schema; suffix: string } | null => {
  const schema = schemaAt(document, given);
  if (schema.properties !== undefined) return { object: schema, suffix: '' };
  if (schema.items !== undefined) {
    const found = objectIn(document, schema.items);
    return found === null ? null : { object: found.object, suffix: `[]${found.suffix}` };
  }
  const others = alternatives(schema).filter((each) => !isNull(schemaAt(document, each)));
  return others.length === 1 ? objectIn(document, others[0]!) : null;
};

/** Every field of an object, those of inner objects by their path: `limits.daily`. */
export const fieldsOf = (document: OpenApi, given: Schema, prefix = '', depth = 1): Fields => {
  const schema = schemaAt(document, given);
  const parts = [...(schema.allOf ?? []), ...alternatives(schema)];
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => {
    const path = prefix + name;
    const field: Field = {
      name: path,
      type: typeOf(document, inner),
      required: schema.required?.includes(name) ?? false,
      text: textOf(document, inner),
    };
    const found = depth < MAX_DEPTH ? objectIn(document, inner) : null;
    return found === null
      ? [field]
      : [field, ...fieldsOf(document, found.object, `${path}${found.suffix}.`, depth + 1)];
  });
  const seen = new Map(own.map((field) => [field.name, field]));
  for (const field of parts.flatMap((part) => fieldsOf(document, part, prefix, depth)))
    if (!seen.has(field.name)) seen.set(field.name, field);
  return [...seen.values()];
};
