import ts from 'typescript';
import { groupOf, programOfText, typeOf } from '../../support/k8s/schema.ts';

/**
 * CustomResourceDefinitions from the types that the tree checks its manifests against, for a
 * cluster without the operators. They have fields, types and enums. They lack what types do not
 * have: the operators' defaults, formats, and validation rules in CEL.
 */

/** The part of OpenAPI that a CustomResourceDefinition may use. */
type Schema = {
  type?: 'object' | 'array' | 'string' | 'number' | 'boolean';
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  enum?: string[];
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-int-or-string'?: true;
};

/** A kind of custom resource: `keda.sh/v1alpha1`, `ScaledObject`. */
export type CustomKind = { apiVersion: string; kind: string };

/** Some types contain themselves. Nothing of ours is nested so deeply. */
const DEPTH = 16;
const ANYTHING: Schema = { 'x-kubernetes-preserve-unknown-fields': true };

const unionSchema = (types: readonly ts.Type[], convert: (type: ts.Type) => Schema): Schema => {
  const literals = types.filter((type) => type.isStringLiteral());
  if (literals.length === types.length)
    return { type: 'string', enum: literals.map(({ value }) => value as string) };
  const schemas = types.map(convert);
  const names = new Set(schemas.map(({ type }) => type));
  if (names.size === 1) return schemas[0]!;
  if (names.size === 2 && names.has('string') && names.has('number'))
    return { 'x-kubernetes-int-or-string': true };
  return ANYTHING;
};

const converter = (checker: ts.TypeChecker, place: ts.Node) => {
  const convert = (whole: ts.Type, depth: number): Schema => {
    const type = checker.getNonNullableType(whole);
    if (depth === 0 || type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return ANYTHING;
    if (type.flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
    if (type.isStringLiteral()) return { type: 'string', enum: [type.value] };
    if (type.flags & ts.TypeFlags.StringLike) return { type: 'string' };
    if (type.flags & ts.TypeFlags.NumberLike) return { type: 'number' };
    if (type.isUnion()) return unionSchema(type.types, (each) => convert(each, depth - 1));
    if (checker.isArrayType(type))
      return {
        type: 'array',
        items: convert(checker.getTypeArguments(type as ts.TypeReference)[0]!, depth - 1),
      };
    return objectSchema(type, depth);
  };
  const objectSchema = (type: ts.Type, depth: number): Schema => {
    const names = type.getStringIndexType();
    if (names !== undefined) return { type: 'object', additionalProperties: convert(names, depth - 1) };
    const members = checker.getPropertiesOfType(type);
    if (members.length === 0) return { type: 'object', ...ANYTHING };
    const required = members
      .filter(({ flags }) => !(flags & ts.SymbolFlags.Optional))
      .map(({ name }) => name);
    const properties = Object.fromEntries(
      members.map((each) => [each.name, convert(checker.getTypeOfSymbolAtLocation(each, place), depth - 1)]),
    );
    return { type: 'object', properties, ...(required.length > 0 && { required }) };
  };
  return (type: ts.Type): Schema => convert(type, DEPTH);
};

/** The name of a kind's definition: `scaledobjects.keda.sh`. */
export const definitionName = (each: CustomKind): string => `${each.kind.toLowerCase()}s.${groupOf(each)}`;

const definition = (each: CustomKind, schema: Schema) => {
  const plural = `${each.kind.toLowerCase()}s`;
  const properties = { ...schema.properties, metadata: { type: 'object' } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: definitionName(each),
      // The API server wants it of groups that end with k8s.io.
      annotations: { 'api-approved.kubernetes.io': 'unapproved, made of types for a test' },
    },
    spec: {
      group: groupOf(each),
      scope: 'Namespaced',
      names: { kind: each.kind, listKind: `${each.kind}List`, plural, singular: each.kind.toLowerCase() },
      versions: [
        {
          name: each.apiVersion.split('/').at(-1),
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { ...schema, properties } },
        },
      ],
    },
  };
};

/** The definitions of kinds, for `kubectl apply`. */
export const definitionsOf = (kinds: readonly CustomKind[]): object[] => {
  const lines = kinds.map((each, index) => `export type T${index} = ${typeOf(each)};`);
  const { program, source } = programOfText(lines.join('\n'));
  const checker = program.getTypeChecker();
  const schemaOf = converter(checker, source);
  const aliases = source.statements.filter(ts.isTypeAliasDeclaration);
  return kinds.map((each, index) =>
    definition(each, schemaOf(checker.getTypeFromTypeNode(aliases[index]!.type))),
  );
};
