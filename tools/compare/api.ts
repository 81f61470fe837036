import type { Schema } from './schema.ts';
import { type Entry, type Part, slim, sorted } from './surface.ts';

/** The API and the events of an API document, which older releases have too. */

type Json = Record<string, unknown>;
type Content = { content?: Record<string, { schema: Json }>; required?: boolean; $ref?: string };
type Limit = { points: number; window_seconds: number; per: string | { field: string } };
type Operation = Json & {
  security: Record<string, unknown>[];
  parameters?: (Json & { $ref?: string; name: string; in: string; required?: boolean; schema: Json })[];
  requestBody?: Content;
  responses: Record<string, Content>;
  'x-rate-limits': Limit[];
};
type Document = {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: { requestBody: Content } }>;
  components: Record<string, Record<string, Json>> & { securitySchemes: Record<string, Json> };
};

const JSON_TYPE = 'application/json';

const referredIn =
  ({ components }: Document) =>
  <T extends { $ref?: string }>(node: T): T => {
    const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(node.$ref ?? '') ?? [];
    return kind === undefined ? node : (components[kind]![name!] as T);
  };

/** The error codes of an operation, each with its status. */
const codesOf = ({ responses }: Operation, described: Document): [code: string, status: string][] =>
  Object.entries(responses).flatMap(([status, response]) => {
    const { allOf } = (referredIn(described)(response).content?.[JSON_TYPE]?.schema ?? {}) as {
      allOf?: { properties?: { error: { properties: { code: { enum: string[] } } } } }[];
    };
    const codes = allOf?.at(-1)?.properties?.error.properties.code.enum ?? [];
    return codes.map((code): [string, string] => [code, status]);
  });

const entryOf = (operation: Operation, described: Document): Entry => {
  const { components } = described;
  const referred = referredIn(described);
  const parameters = (operation.parameters ?? []).map(referred);
  const credentials = operation.security.flatMap((each) => Object.keys(each));
  const open = ['none', ...Object.keys(components.securitySchemes)];
  const body = operation.requestBody?.content?.[JSON_TYPE];
  const fields: Record<string, Schema> = {
    credential: { enum: (credentials.length === 0 ? open : credentials).toSorted() },
    ...Object.fromEntries(
      parameters.map(({ name, schema, deprecated }) => [
        name,
        { ...slim(schema), ...(deprecated === true && { deprecated }) },
      ]),
    ),
    ...(body && { body: slim(body.schema) }),
    ...(operation['x-step-up'] !== undefined && { 'sign-in of the last 5 minutes': {} }),
    ...(operation['x-environments'] !== undefined && {
      environment: { enum: operation['x-environments'] as string[] },
    }),
  };
  const answers = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([status, response]) => [status, slim(referred(response).content?.[JSON_TYPE]?.schema)] as const);
  const errors = codesOf(operation, described).map(([code]) => code);
  const optional = new Set([
    ...parameters.filter(({ required }) => required !== true).map(({ name }) => name),
    ...(operation.requestBody?.required === true ? [] : ['body']),
    'environment',
  ]);
  return {
    ...(operation.deprecated === true && { deprecated: true }),
    takes: {
      type: 'object',
      properties: fields,
      required: Object.keys(fields).filter((name) => !optional.has(name)),
      additionalProperties: false,
    },
    gives: {
      type: 'object',
      properties: Object.fromEntries(answers),
      required: answers.map(([status]) => status),
    },
    errors,
    limits: Object.fromEntries(
      operation['x-rate-limits'].map(({ points, window_seconds: seconds, per }) => [
        `per ${typeof per === 'string' ? per : per.field} in ${seconds} s`,
        points,
      ]),
    ),
  };
};

/**
 * All codes with their statuses. A status that no error had before is one that no client expects.
 */
const errorsEntry = (described: Document): Entry => {
  const codes = Object.values(described.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => codesOf(operation, described));
  return {
    gives: {
      type: 'object',
      properties: {
        body: { $ref: '#/components/schemas/Error' },
        status: { enum: [...new Set(codes.map(([, status]) => status))].toSorted() },
        ...sorted(Object.fromEntries(codes.map(([code, status]) => [code, { const: status }]))),
      },
    },
  };
};

/** @param document docs/openapi.json of any release */
export const apiParts = (document: object): { API: Part; Events: Part } => {
  const described = document as Document;
  const { paths, webhooks, components } = described;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => [`${method.toUpperCase()} ${path}`, entryOf(operation, described)] as const,
    ),
  );
  const events = Object.entries(webhooks).map(
    ([type, { post }]) => [type, { gives: slim(post.requestBody.content![JSON_TYPE]!.schema) }] as const,
  );
  return {
    API: {
      entries: { 'every error': errorsEntry(described), ...sorted(Object.fromEntries(operations)) },
      definitions: sorted(
        Object.fromEntries(Object.entries(components.schemas!).map(([name, each]) => [name, slim(each)])),
      ),
    },
    Events: { entries: sorted(Object.fromEntries(events)), definitions: {} },
  };
};
