import type { Json } from '../../../shared/contract/examples.ts';

/** The API document as a reader sees it who resolves its references. */

const isObject = (node: unknown): node is Json =>
  typeof node === 'object' && node !== null && !Array.isArray(node);

const find = (document: Json, reference: string): unknown =>
  reference
    .slice('#/'.length)
    .split('/')
    .reduce<unknown>((node, part) => (node as Json)[part.replaceAll('~1', '/')], document);

/** True if no field is in two of the objects, so that one object can have all of them. */
const areApart = (parts: Json[]): boolean => {
  const names = parts.flatMap(({ properties }) => Object.keys(properties ?? {}));
  return parts.every(({ type }) => type === 'object') && new Set(names).size === names.length;
};

/** An object that extends others, as one object. A description of the object itself wins. */
const merged = ({ allOf, ...own }: Json): Json => {
  if (allOf === undefined) return own;
  const bases = (allOf as Json[]).map(({ description: _, ...base }) => base);
  const parts = [...bases, own];
  if (!areApart(parts)) return { allOf, ...own };
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)),
    required: parts.flatMap(({ required = [] }) => required as string[]),
  };
};

/** A part of a document without references. @param inside the references that contain the part */
const resolve = (document: Json, node: unknown, inside: readonly string[] = []): unknown => {
  if (Array.isArray(node)) return node.map((each) => resolve(document, each, inside));
  if (!isObject(node)) return node;
  const { $ref, ...own } = node;
  const parts = Object.fromEntries(
    Object.entries(own).map(([key, part]) => [key, resolve(document, part, inside)]),
  );
  if (typeof $ref !== 'string') return merged(parts);
  if (inside.includes($ref)) return { ...parts, recursion: inside.length - inside.indexOf($ref) };
  const named = resolve(document, find(document, $ref), [...inside, $ref]) as Json;
  return { ...named, ...parts };
};

/**
 * A document without references. An object that extends others has their fields, and the
 * components are left out, except the security schemes, which are referred to by name.
 */
export const resolved = (document: Json): Json => {
  const { components, ...rest } = document;
  const { securitySchemes } = components as Json;
  return resolve(document, { ...rest, securitySchemes }) as Json;
};
