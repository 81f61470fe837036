import { z } from 'zod';
import { exampleOf, type Json } from './examples.ts';
import { baseOf } from './extended.ts';

/** The schemas of the API document: each shape with an id is written once and referred to. */

const COMPONENT = '#/components/schemas/';

const isAmount = ({ $ref, anyOf = [] }: Json): boolean =>
  /\/MicroUsdc(OrZero)?$/.test(String($ref)) || (anyOf as Json[]).some(isAmount);

/** The description of an amount names its unit, because a reader of one field sees no other. */
const withUnit = (node: Json): Json =>
  typeof node.description === 'string' && isAmount(node)
    ? { ...node, description: `${node.description}. In USDC micro-units` }
    : node;

/** References in the form of the document, and the units of amounts. */
const toComponent = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(toComponent);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([key, value]) => [
    key,
    key === '$ref' && typeof value === 'string' ? value.replace('#/$defs/', COMPONENT) : toComponent(value),
  ]);
  return withUnit(Object.fromEntries(entries) as Json);
};

/** The keywords of an object that extends another one: a reference to it, and its own fields. */
const extensionOf = (schema: Json, base: z.ZodObject): Json => {
  const isOwn = (name: string) => !(name in base.shape);
  const { properties = {}, required = [] } = schema as { properties?: Json; required?: string[] };
  return {
    allOf: [{ $ref: `${COMPONENT}${base.meta()?.id}` }],
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isOwn(name))),
    required: required.filter(isOwn),
  };
};

/** Converts schemas to JSON Schema. A schema with an id becomes a component, once. */
export const createConverter = () => {
  const components: Record<string, Json> = {};

  const addComponent = (id: string, schema: unknown) => {
    const { id: _id, $id: _uri, ...rest } = toComponent(schema) as Json;
    const known = components[id];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(rest)) {
      throw new Error(`two schemas are named ${id}`);
    }
    components[id] = rest;
  };

  /** @param open drops `additionalProperties: false`: answers may gain fields, requests may not. */
  const convert = (schema: z.ZodType, { open }: { open: boolean }): Json => {
    const converted = z.toJSONSchema(schema, {
      target: 'draft-2020-12',
      io: 'input',
      override: ({ zodSchema, jsonSchema }) => {
        if (open && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
        const base = baseOf(zodSchema);
        if (base === undefined) return;
        if (!open)
          throw new Error(`an object that extends ${base.meta()?.id} is for answers and events only`);
        convert(base, { open });
        Object.assign(jsonSchema, extensionOf(jsonSchema as Json, base));
      },
    });
    const { $schema: _dialect, $defs = {}, ...root } = converted as Json & { $defs?: Json };
    for (const [id, definition] of Object.entries($defs)) addComponent(id, definition);
    if (typeof root.id !== 'string') return toComponent(root) as Json;
    addComponent(root.id, root);
    return { $ref: `${COMPONENT}${root.id}` };
  };
  const example = (schema: Json, place: string) => exampleOf(schema, components, place);
  return { components, convert, example };
};

export type Converter = ReturnType<typeof createConverter>;
