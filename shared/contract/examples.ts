/** A JSON Schema of the API document. */
export type Json = { [key: string]: unknown };

/**
 * Examples for the API document, from the `.meta({ examples })` of the contract's shapes. A shape
 * without examples is composed of the examples of its parts. A string must have an example,
 * because none can be composed that means something.
 */

const LOCAL = '#/components/schemas/';

/** The first member of a union: `X | null` shows X. */
const firstOf = ({ anyOf, oneOf, enum: values }: Json): unknown =>
  [anyOf, oneOf, values].map((choices) => (choices as unknown[] | undefined)?.[0]).find((first) => first);

/**
 * One value that fits the schema, with all its optional fields.
 * @param schema a JSON Schema of the API document
 * @param components the schemas that its references name
 * @throws Error naming the place where the contract has no example and none can be composed
 */
export const exampleOf = (schema: Json, components: Record<string, Json>, place = ''): unknown => {
  const { examples, $ref, allOf, properties, items } = schema;
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (Array.isArray(examples) && examples.length > 0) return examples[0];
  if ('const' in schema) return schema.const;
  if (typeof $ref === 'string') {
    const name = $ref.replace(LOCAL, '');
    return exampleOf(components[name] ?? {}, components, `${place} (${name})`);
  }
  if (Array.isArray(allOf)) {
    const parts = [...allOf, { type: 'object', properties }] as Json[];
    return Object.assign({}, ...parts.map((part) => exampleOf(part, components, place)));
  }
  if (Array.isArray(schema.enum)) return firstOf(schema);
  const member = firstOf(schema);
  if (member !== undefined) return exampleOf(member as Json, components, place);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((properties ?? {}) as Record<string, Json>).map(([name, field]) => [
          name,
          exampleOf(field, components, `${place}.${name}`),
        ]),
      );
    case 'array':
      return [exampleOf(items as Json, components, `${place}[]`)];
    case 'boolean':
      return false;
    case 'integer':
      return Math.max(0, (schema.minimum as number | undefined) ?? 0);
    case 'null':
      return null;
  }
  throw new Error(`${place} needs .meta({ examples }) in the contract: ${JSON.stringify(schema)}`);
};
