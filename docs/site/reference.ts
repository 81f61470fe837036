// The reference of the API as Markdown, made of the OpenAPI document: one page for each tag, one
// section for each operation.
import { isErrorCode } from '../../shared/contract/errors.ts';
import type { Page } from './page.ts';
import { type Fields, fieldsOf, type OpenApi, type Schema, schemaAt } from './schema-fields.ts';

type Content = Record<string, { schema?: Schema; example?: unknown }>;
type Parameter = { name: string; in: string; required?: boolean; description?: string; schema: Schema };
type Answer = { description: string; content?: Content };
type Operation = {
  tags: string[];
  summary: string;
  description: string;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Answer & { $ref?: string }>;
  'x-codeSamples'?: { lang: string; label: string; source: string }[];
};
type Document = OpenApi & {
  info: { description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
};
type Call = { method: string; path: string; operation: Operation };

const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const fence = (language: string, text: string): string => `\`\`\`${language}\n${text.trimEnd()}\n\`\`\``;

/** A cell of a table: one line, in which a bar is no border. */
const cell = (text: string): string => text.replaceAll('\n', ' ').replaceAll('|', '\\|');

const table = (fields: Fields): string =>
  [
    '| Field | Type | Description |',
    '| --- | --- | --- |',
    ...fields.map(
      ({ name, type, required, text }) =>
        `| \`${name}\`${required ? ' **required**' : ''} | ${cell(type)} | ${cell(text)} |`,
    ),
  ].join('\n');

/** What a reader unfolds. The empty lines make its content Markdown. */
const details = (summary: string, content: string): string =>
  `<details>\n<summary>${summary}</summary>\n\n${content}\n\n</details>`;

const parameterFields = (document: Document, operation: Operation, place: string): Fields =>
  (operation.parameters ?? [])
    .map((each) => schemaAt<Parameter>(document, each))
    .filter((each) => each.in === place)
    .flatMap((each) =>
      fieldsOf(document, {
        type: 'object',
        properties: { [each.name]: { description: each.description, ...each.schema } },
        required: each.required === true ? [each.name] : [],
      }),
    );

const PLACES = [
  ['path', 'In the path'],
  ['query', 'In the query'],
  ['header', 'Headers'],
] as const;

const requestParts = (document: Document, operation: Operation): string[] => {
  const parts = PLACES.flatMap(([place, title]) => {
    const fields = parameterFields(document, operation, place);
    return fields.length === 0 ? [] : [`**${title}**`, table(fields)];
  });
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return parts;
  const fields = fieldsOf(document, schema);
  return fields.length === 0 ? parts : [...parts, '**Body**', table(fields)];
};

const samples = ({ 'x-codeSamples': given = [] }: Operation): string[] =>
  given.length === 0
    ? []
    : [
        `<code-tabs data-names="${given.map(({ label }) => label).join(',')}">`,
        ...given.map(({ lang, source }) => fence(lang === 'bash' ? 'sh' : lang, source)),
        '</code-tabs>',
      ];

const answerParts = (document: Document, status: string, given: Answer): string[] => {
  const { description, content } = schemaAt<Answer>(document, given);
  const body = content?.['application/json'];
  if (body === undefined) return [`**${status}** ${description}`];
  const fields = body.schema === undefined ? [] : fieldsOf(document, body.schema);
  return [
    `**${status}** ${description}`,
    ...(body.example === undefined ? [] : [fence('json', JSON.stringify(body.example, null, 2))]),
    ...(fields.length === 0 ? [] : [details(`Fields of the answer: ${fields.length}`, table(fields))]),
  ];
};

/**
 * The error codes of an operation. The name of a shared answer lists them, and names its form last.
 */
const errorLine = (operation: Operation): string[] => {
  const codes = Object.values(operation.responses).flatMap(({ $ref = '' }) =>
    ($ref.split('/').at(-1) ?? '').split('.').filter(isErrorCode),
  );
  const links = [...new Set(codes)].map((code) => `[\`${code}\`](/docs/errors#${code})`);
  return links.length === 0 ? [] : [`**Errors**: ${links.join(', ')}`];
};

const section = (document: Document, { method, path, operation }: Call): string =>
  [
    `## ${operation.summary}`,
    `\`${method} ${path}\``,
    operation.description,
    ...samples(operation),
    ...requestParts(document, operation),
    ...Object.entries(operation.responses)
      .filter(([status, { $ref }]) => status.startsWith('2') && $ref === undefined)
      .flatMap(([status, answer]) => answerParts(document, status, answer)),
    ...errorLine(operation),
  ].join('\n\n');

const eventSection = (document: Document, type: string, operation: Operation): string => {
  const { schema, example } = operation.requestBody!.content['application/json']!;
  return [
    `## ${type}`,
    operation.description,
    fence('json', JSON.stringify(example, null, 2)),
    details('Fields', table(fieldsOf(document, schema!))),
  ].join('\n\n');
};

const callsOf = (document: Document, tag: string): Call[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** The anchor of a heading, as Astro makes it of these summaries. */
const anchor = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const overview = (document: Document): Page => ({
  path: 'docs',
  title: 'API reference',
  description: 'Every call of the API with its fields, samples and errors.',
  markdown: [
    document.info.description,
    'The same as one file: [OpenAPI 3.1](/openapi.json).',
    ...document.tags.map(({ name, description }) => {
      const at = `/docs/api/${slug(name)}`;
      const rows = callsOf(document, name).map(
        ({ method, path, operation: { summary } }) =>
          `| [${summary}](${at}#${anchor(summary)}) | \`${method} ${path}\` |`,
      );
      const calls = rows.length === 0 ? [] : [['| Operation | Call |', '| --- | --- |', ...rows].join('\n')];
      return [`## ${name}`, `${description} [All details](${at}).`, ...calls].join('\n\n');
    }),
  ].join('\n\n'),
  depth: 2,
});

/** /docs and a page for each tag. */
export const referencePages = (document: Document): Page[] => [
  overview(document),
  ...document.tags.map(({ name, description }) => {
    const calls = callsOf(document, name);
    const sections =
      calls.length > 0
        ? calls.map((call) => section(document, call))
        : Object.entries(document.webhooks).map(([type, { post }]) => eventSection(document, type, post));
    return {
      path: `docs/api/${slug(name)}`,
      title: name,
      description,
      markdown: [description, ...sections].join('\n\n'),
      depth: 2,
    };
  }),
];
