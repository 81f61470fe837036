import openapiTS, { astToString } from 'openapi-typescript';
import ts from 'typescript';
import type { Json } from '../../shared/contract/examples.ts';
import { openApiDocument } from '../../shared/contract/openapi.ts';

/**
 * The types of the SDK: one for each schema of the API document, and a table of what the operations
 * get and return.
 */

const HEAD = '// Generated from shared/contract/ by `npm run generate`; do not edit.\n';
const SCHEMA = '#/components/schemas/';
const PARAMETER = '#/components/parameters/';
/** Any JSON, which refers to itself. A type in this form cannot. */
const ANY_JSON = '__schema0';
/** Errors are classes of the SDK, with the same content. */
const UNNAMED = new Set(['Error', ANY_JSON]);

type Operation = {
  operationId: string;
  parameters?: Json[];
  requestBody?: { content: { 'application/json': { schema: Json } } };
  responses: Record<string, { content?: { 'application/json': { schema: Json } } }>;
};

const document = openApiDocument({ serverUrl: '/' });
const { schemas, parameters } = document.components as Record<string, Record<string, Json>>;

/** The names of the types, in the order of the document. */
export const schemaNames = (): string[] => Object.keys(schemas!).filter((name) => !UNNAMED.has(name));

/** The members of the interface that openapi-typescript makes of the schemas. */
const schemaMembers = async (): Promise<ts.PropertySignature[]> => {
  const slim = {
    openapi: document.openapi,
    info: document.info,
    paths: {},
    components: { schemas: { ...schemas, [ANY_JSON]: {} } },
  };
  const nodes = await openapiTS(slim as never);
  const components = nodes.filter(ts.isInterfaceDeclaration).find(({ name }) => name.text === 'components');
  const [members] = components!.members.filter(ts.isPropertySignature);
  return (members!.type as ts.TypeLiteralNode).members.filter(ts.isPropertySignature);
};

/** One type for each schema. A reference is the name of a type, which editors show. */
const declarations = async (): Promise<string> => {
  const members = await schemaMembers();
  const aliases = members
    .filter(({ name }) => !UNNAMED.has((name as ts.Identifier).text))
    .map((member) => {
      const name = (member.name as ts.Identifier).text;
      const exported = [ts.factory.createModifier(ts.SyntaxKind.ExportKeyword)];
      const alias = ts.factory.createTypeAliasDeclaration(exported, name, undefined, member.type!);
      return ts.setSyntheticLeadingComments(alias, ts.getSyntheticLeadingComments(member));
    });
  return astToString(aliases)
    .replaceAll(`components["schemas"]["${ANY_JSON}"]`, 'unknown')
    .replaceAll(/components\["schemas"\]\["(\w+)"\]/g, '$1');
};

/** The type of a body, or of a field of a path or query. */
const typeOf = ({ $ref, anyOf, oneOf, enum: values, type }: Json, place: string): string => {
  if (typeof $ref === 'string') return $ref.replace(SCHEMA, '');
  const members = (anyOf ?? oneOf) as Json[] | undefined;
  if (members !== undefined) return members.map((member) => typeOf(member, place)).join(' | ');
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (type === 'string') return type;
  throw new Error(`${place} needs an id in the contract: ${JSON.stringify({ type })}`);
};

const fieldOf = (given: Json, place: string): string[] => {
  const { $ref } = given;
  const parameter = typeof $ref === 'string' ? parameters![$ref.replace(PARAMETER, '')]! : given;
  if (parameter.in === 'header') return [];
  const { name, required, description, deprecated, schema } = parameter;
  const mark = deprecated === true ? '\n       * @deprecated\n       ' : ' ';
  return [
    ...(description === undefined ? [] : [`      /** ${description}${mark}*/`]),
    `      ${name}${required === true ? '' : '?'}: ${typeOf(schema as Json, place)};`,
  ];
};

/** Path, query and body fields in one type. Their names never collide. */
const inputOf = ({ operationId, parameters: given = [], requestBody }: Operation): string => {
  const fields = given.flatMap((parameter) => fieldOf(parameter, operationId));
  const body = requestBody?.content['application/json'].schema;
  const parts = [
    ...(fields.length === 0 ? [] : [`{\n${fields.join('\n')}\n    }`]),
    // The bytes of a provider's webhook are no fields.
    ...(body === undefined || body.type === 'object' ? [] : [typeOf(body, operationId)]),
  ];
  return parts.length === 0 ? 'Record<never, never>' : parts.join(' & ');
};

const outputOf = ({ operationId, responses }: Operation): string =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, { content }]) =>
      content === undefined ? 'undefined' : typeOf(content['application/json'].schema, operationId),
    )
    .join(' | ');

const operationEntries = (): string[] =>
  Object.values(document.paths as Record<string, Record<string, Operation>>)
    .flatMap((methods) => Object.values(methods))
    .map(
      (operation) =>
        `  '${operation.operationId}': {\n    input: ${inputOf(operation)};\n    output: ${outputOf(operation)};\n  };`,
    );

type Webhook = { post: { requestBody: NonNullable<Operation['requestBody']> } };
const webhookEntries = (): string[] =>
  Object.entries(document.webhooks as Record<string, Webhook>).map(
    ([type, { post }]) =>
      `  '${type}': ${typeOf(post.requestBody.content['application/json'].schema, type)};`,
  );

/** Type declarations of everything in requests, answers and events. */
export const sdkTypes = async (): Promise<string> => `${HEAD}
/** What each operation gets and returns, by its name. */
export interface operations {
${operationEntries().join('\n')}
}

/** The event that a webhook endpoint gets, by its type. */
export interface webhooks {
${webhookEntries().join('\n')}
}

${await declarations()}`;
