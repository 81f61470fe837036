import { readFileSync } from 'node:fs';
import path from 'node:path';
import { apiParts } from '../../../tools/compare/api.ts';
import type { Schema } from '../../../tools/compare/schema.ts';
import type { Class } from '../../../tools/compare/schema-changes.ts';
import { presentSurface } from '../../../tools/compare/stored.ts';
import type { Entry, PartName, Surface } from '../../../tools/compare/surface.ts';

/** Changes of the real surface, with the class that each row of docs/versioning.md gives them. */

const root = path.resolve(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

type Json = Record<string, unknown>;
type Schemas = Record<string, { properties: Record<string, Json>; required: string[]; enum: unknown[] }>;
type Document = {
  paths: Record<
    string,
    Record<string, Json & { responses: Json; security: Json[]; 'x-rate-limits': Json[] }>
  >;
  webhooks: Record<string, Json>;
  components: { schemas: Schemas };
};
export const document = JSON.parse(read('docs/openapi.json')) as Document;
export const present = presentSurface().surface;

type Mutant = readonly [row: PartName, what: string, expected: Class, changed: Surface];

/** A change of the API document. */
const ofDocument = (
  row: PartName,
  what: string,
  expected: Class,
  change: (schemas: Schemas, document: Document) => void,
): Mutant => {
  const copy = structuredClone(document);
  change(copy.components.schemas, copy);
  return [row, what, expected, { ...present, ...apiParts(copy) }];
};

/** A change of one entry of another part. */
const ofEntry = (
  row: PartName,
  what: string,
  expected: Class,
  name: string,
  change: (entry: Entry, entries: Record<string, Entry>) => void,
): Mutant => {
  const part = structuredClone(present[row]!);
  change(part.entries[name]!, part.entries);
  return [row, what, expected, { ...present, [row]: part }];
};

const drop = (schema: { properties?: object; required?: readonly string[] }, name: string): void => {
  delete (schema.properties as Json)[name];
  schema.required = (schema.required ?? []).filter((each) => each !== name);
};
const quotePath = '/v1/quote';
const text: Schema = { type: 'string' };
const fields = (schema: Schema | undefined) => schema!.properties!;

const answering = (codes: string[]) => ({
  content: {
    'application/json': {
      schema: { allOf: [{}, { properties: { error: { properties: { code: { enum: codes } } } } }] },
    },
  },
});

const API: Mutant[] = [
  ofDocument('API', 'a path is removed', 'major', (_, { paths }) => delete paths[quotePath]),
  ofDocument(
    'API',
    'a method is removed',
    'major',
    (_, { paths }) => delete paths['/v1/services/{service_id}']!.delete,
  ),
  ofDocument('API', 'a field of an answer is removed', 'major', ({ Quote }) => drop(Quote!, 'fee_amount')),
  ofDocument('API', 'a field is renamed', 'major', ({ Quote }) => {
    drop(Quote!, 'fee_amount');
    Quote!.properties.fee = { type: 'string' };
  }),
  ofDocument('API', 'a field of an answer may be absent', 'major', ({ Quote }) => {
    Quote!.required = Quote!.required.filter((name) => name !== 'fee_amount');
  }),
  ofDocument('API', 'a field of an answer may be null', 'major', ({ Quote }) => {
    Quote!.properties.expires_at = { anyOf: [Quote!.properties.expires_at, { type: 'null' }] };
  }),
  ofDocument('API', 'a field has another type', 'major', ({ Quote }) => {
    Quote!.properties.max_amount = { type: 'integer' };
  }),
  ofDocument('API', 'a field of a request is removed', 'major', ({ CreateQuoteRequest }) =>
    drop(CreateQuoteRequest!, 'scope'),
  ),
  ofDocument('API', 'a request field becomes required', 'major', ({ CreateQuoteRequest }) =>
    CreateQuoteRequest!.required.push('scope'),
  ),
  ofDocument('API', 'a new request field is required', 'major', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.reason = { type: 'string' };
    CreateQuoteRequest!.required.push('reason');
  }),
  ofDocument('API', 'an enum value of a request is removed', 'major', ({ CreateQuoteRequest }) => {
    (CreateQuoteRequest!.properties.capture!.enum as unknown[]).pop();
  }),
  ofDocument('API', 'an enum value of an answer is removed', 'major', ({ QuoteStatus }) =>
    QuoteStatus!.enum.pop(),
  ),
  ofDocument('API', 'a closed enum of an answer gets a value', 'major', ({ QuoteStatus }) =>
    QuoteStatus!.enum.push('later'),
  ),
  ofDocument('API', 'an error code is removed', 'major', ({ Error: { properties } = {} as never }) => {
    const { code } = (properties.error as { properties: { code: { enum: unknown[] } } }).properties;
    code.enum.pop();
  }),
  ofDocument('API', 'a bound becomes narrower', 'major', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.expires_in_seconds!.maximum = 60;
  }),
  ofDocument('API', 'a pattern changes', 'major', ({ QuoteId }) =>
    Object.assign(QuoteId!, { pattern: '^x_' }),
  ),
  ofDocument('API', 'a status changes', 'major', (_, { paths }) => {
    const { responses } = paths[quotePath]!.post!;
    responses['200'] = responses['201'];
    delete responses['201'];
  }),
  ofDocument('API', 'a default changes', 'major', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.expires_in_seconds!.default = 60;
  }),
  ofDocument('API', 'a credential changes', 'major', (_, { paths }) => {
    paths[quotePath]!.post!.security = [{ accessToken: [] }];
  }),
  ofDocument('API', 'a recent sign-in becomes necessary', 'major', (_, { paths }) => {
    paths[quotePath]!.post!['x-step-up'] = true;
  }),
  ofDocument('API', 'a limit is lowered', 'major', (_, { paths }) => {
    paths[quotePath]!.post!['x-rate-limits'][0]!.points = 29;
  }),
  ofDocument('API', 'a query parameter is removed', 'major', (_, { paths }) => {
    (paths['/v1/quotes']!.get!.parameters as Json[]).pop();
  }),
  ofDocument('API', 'a new error code has a new status', 'major', (_, { paths }) => {
    const { responses } = paths[quotePath]!.post!;
    responses['418'] = answering(['teapot']);
  }),
  ofDocument('API', 'a new path', 'minor', (_, { paths }) => {
    paths['/v1/other'] = structuredClone(paths[quotePath]!);
  }),
  ofDocument('API', 'an optional request field', 'minor', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.reason = { type: 'string' };
  }),
  ofDocument('API', 'a field in an answer', 'minor', ({ Quote }) => {
    Quote!.properties.reason = { type: 'string' };
    Quote!.required.push('reason');
  }),
  ofDocument('API', 'a request takes one more value', 'minor', ({ CreateQuoteRequest }) => {
    (CreateQuoteRequest!.properties.capture!.enum as unknown[]).push('later');
  }),
  ofDocument('API', 'a new error code with a known status', 'minor', (_, { paths }) => {
    const { responses } = paths[quotePath]!.post!;
    responses['422'] = answering(['idempotency_mismatch', 'teapot']);
  }),
  ofDocument('API', 'the list of error codes has one more', 'minor', ({ Error: error }) => {
    const { code } = (error!.properties.error as { properties: { code: { enum: unknown[] } } }).properties;
    code.enum.push('teapot');
  }),
  ofDocument(
    'API',
    'a new value of a field whose description allows further ones',
    'minor',
    ({ EventType }) => EventType!.enum.push('quote.later'),
  ),
  ofDocument('API', 'a higher limit', 'minor', (_, { paths }) => {
    paths[quotePath]!.post!['x-rate-limits'][0]!.points = 31;
  }),
  ofDocument('API', 'a wider bound', 'minor', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.expires_in_seconds!.maximum = 1e6;
  }),
  ofDocument('API', 'another credential is accepted, too', 'minor', (_, { paths }) => {
    paths[quotePath]!.post!.security.push({ accessToken: [] });
  }),
  ofDocument('API', 'an operation becomes deprecated', 'minor', (_, { paths }) => {
    paths[quotePath]!.post!.deprecated = true;
  }),
  ofDocument('API', 'a field becomes deprecated', 'minor', ({ CreateQuoteRequest }) => {
    CreateQuoteRequest!.properties.scope!.deprecated = true;
  }),
  ofDocument('API', 'other texts', 'none', ({ Quote }, { paths }) => {
    Quote!.properties.expires_at!.description = 'Another text';
    paths[quotePath]!.post!.summary = 'Another text';
  }),
  [
    'API',
    'a shape with another name',
    'none',
    {
      ...present,
      ...apiParts(JSON.parse(JSON.stringify(document).replaceAll('QuoteStatus"', 'QuoteState"'))),
    },
  ],
];

const EVENTS: Mutant[] = [
  ofDocument('Events', 'a type is removed', 'major', (_, { webhooks }) => delete webhooks['refund.failed']),
  ofDocument('Events', 'a field is removed', 'major', ({ WebhookEventSettlementIssued }) =>
    drop(WebhookEventSettlementIssued!, 'timestamp'),
  ),
  ofDocument('Events', 'a new type', 'minor', (_, { webhooks }) => {
    webhooks['refund.later'] = structuredClone(webhooks['refund.failed']!);
  }),
  ofDocument('Events', 'a new field', 'minor', ({ WebhookEventSettlementIssued }) => {
    WebhookEventSettlementIssued!.properties.reason = { type: 'string' };
  }),
];

const SETTLED = 'event settlement.issued';
const OTHERS: Mutant[] = [
  ofEntry('SDK', 'an export is removed', 'major', '@quittance/sdk createClient', (_, entries) => {
    delete entries['@quittance/sdk createClient'];
  }),
  ofEntry('SDK', 'a new export', 'minor', '@quittance/sdk createClient', (_, entries) => {
    entries['@quittance/sdk later'] = {};
  }),
  ofEntry(
    'CLI',
    'a command is removed',
    'major',
    'quittance pay',
    (_, entries) => delete entries['quittance pay'],
  ),
  ofEntry('CLI', 'an option is removed', 'major', 'quittance pay', ({ takes }) => drop(takes!, '--max')),
  ofEntry('CLI', 'an option needs a value', 'major', 'quittance', ({ takes }) => {
    fields(takes)['--json'] = text;
  }),
  ofEntry('CLI', 'a variable is removed', 'major', 'variables of quittance', ({ takes }) =>
    drop(takes!, 'DELEGATE_KEY'),
  ),
  ofEntry('CLI', 'an exit code has another meaning', 'major', 'exit codes of quittance', (entry) => {
    entry.gives = { enum: entry.gives!.enum!.filter((code) => code !== 5), further: true };
  }),
  ofEntry('CLI', 'a new argument is required', 'major', 'quittance pay', ({ takes }) => {
    fields(takes)['<for>'] = {};
    takes!.required = [...takes!.required!, '<for>'];
  }),
  ofEntry('CLI', 'an option of the gate is removed', 'major', 'quittance-gate', ({ takes }) =>
    drop(takes!, '--price'),
  ),
  ofEntry('CLI', 'a command of operators is removed', 'major', 'ops limits set', (_, entries) => {
    delete entries['ops limits set'];
  }),
  ofEntry('CLI', 'a new option', 'minor', 'quittance pay', ({ takes }) => {
    fields(takes)['--later'] = text;
  }),
  ofEntry('CLI', 'a new exit code', 'minor', 'exit codes of quittance', (entry) => {
    entry.gives = { enum: [...entry.gives!.enum!, 9], further: true };
  }),
  ofEntry('Tools', 'a tool is removed', 'major', 'budget', (_, entries) => delete entries.budget),
  ofEntry('Tools', 'a field of a call is renamed', 'major', 'price', ({ takes }) => {
    drop(takes!, 'url');
    fields(takes).address = text;
  }),
  ofEntry('Tools', 'a field of an answer is removed', 'major', 'budget', ({ gives }) =>
    drop(gives!, 'limits'),
  ),
  ofEntry('Tools', 'an optional field of a call', 'minor', 'price', ({ takes }) => {
    fields(takes).later = text;
  }),
  ofEntry('Tools', 'a field in an answer', 'minor', 'budget', ({ gives }) => {
    fields(gives).later = text;
  }),
  ofEntry('Settings', 'a program is removed', 'major', 'wallet', (_, entries) => delete entries.wallet),
  ofEntry('Settings', 'a setting is renamed', 'major', 'quote', ({ takes }) => {
    drop(takes!, 'POSTGRES_POOL');
    fields(takes).DATABASE_POOL = text;
  }),
  ofEntry('Settings', 'a setting becomes required', 'major', 'quote', ({ takes }) => {
    takes!.required = [...takes!.required!, 'POSTGRES_REPLICA_URL'];
  }),
  ofEntry('Settings', 'a setting takes less', 'major', 'quote', ({ takes }) => {
    fields(takes).POSTGRES_POOL = { ...fields(takes).POSTGRES_POOL, maximum: 50 };
  }),
  ofEntry('Settings', 'a new setting with a default', 'minor', 'quote', ({ takes }) => {
    fields(takes).LATER = { type: 'string', default: '' };
  }),
  ofEntry('Settings', 'another default', 'minor', 'quote', ({ takes }) => {
    fields(takes).POSTGRES_POOL = { ...fields(takes).POSTGRES_POOL, default: 20 };
  }),
  ofEntry('gate.yaml', 'a name is removed', 'major', 'gate.yaml', ({ takes }) => drop(takes!, 'hosts')),
  ofEntry('gate.yaml', 'a name in a route is removed', 'major', 'gate.yaml', ({ takes }) =>
    drop(fields(takes).routes!.items!, 'price'),
  ),
  ofEntry('gate.yaml', 'a value is removed', 'major', 'gate.yaml', ({ takes }) => {
    fields(takes).dialects!.items = { enum: ['x402'], type: 'string' };
  }),
  ofEntry('gate.yaml', 'a new name', 'minor', 'gate.yaml', ({ takes }) => {
    fields(takes).later = text;
  }),
  ofEntry('Metrics', 'a metric is removed', 'major', 'quittance_quotes_total', (_, entries) => {
    delete entries.quittance_quotes_total;
  }),
  ofEntry('Metrics', 'a label is removed', 'major', 'quittance_settlements_total', ({ gives }) =>
    drop(gives!, 'outcome'),
  ),
  ofEntry('Metrics', 'a value of a label is removed', 'major', 'quittance_settlements_total', ({ gives }) => {
    fields(gives).outcome = { enum: ['accepted', 'issued', 'failed'], further: true };
  }),
  ofEntry('Metrics', 'another unit', 'major', 'quittance_quotes_total', ({ is }) => {
    is!.unit = 's';
  }),
  ofEntry('Metrics', 'a new metric', 'minor', 'quittance_quotes_total', (entry, entries) => {
    entries.quittance_later_total = entry;
  }),
  ofEntry('Metrics', 'a new value of a label', 'minor', 'quittance_settlements_total', ({ gives }) => {
    const { outcome } = fields(gives);
    fields(gives).outcome = { ...outcome, enum: [...outcome!.enum!, 'later'] };
  }),
  ofEntry('Bus', 'a field is removed', 'major', SETTLED, ({ passes }) =>
    drop(passes!, Object.keys(fields(passes))[0]!),
  ),
  ofEntry('Bus', 'a new field is required', 'major', SETTLED, ({ passes }) => {
    fields(passes).later = text;
    passes!.required = [...passes!.required!, 'later'];
  }),
  ofEntry('Bus', 'a field takes less', 'major', 'stored OutgoingRequest', ({ passes }) => {
    fields(passes).memo = text;
  }),
  ofEntry('Bus', 'a token has a new claim that may be absent', 'minor', 'token quote', ({ asks }) => {
    fields(asks).later = text;
  }),
  ofEntry('Bus', 'an event is removed', 'major', SETTLED, (_, entries) => delete entries[SETTLED]),
  ofEntry('Bus', 'a field takes more', 'minor', 'stored OutgoingRequest', ({ passes }) => {
    fields(passes).amount = { anyOf: [fields(passes).amount!, { type: 'null' }] };
  }),
  ofEntry('Bus', 'a new call', 'minor', SETTLED, (_, entries) => {
    entries['call quote.later'] = {};
  }),
  ofEntry('Bus', 'a call takes a new optional field', 'minor', 'call quote.getQuoteActivity', ({ asks }) => {
    fields(asks).later = text;
  }),
  ofEntry('Bus', 'a new optional field', 'none', SETTLED, ({ passes }) => {
    fields(passes).later = text;
  }),
  ofEntry('Bus', 'a new event', 'none', SETTLED, (entry, entries) => {
    entries['event settlement.later'] = entry;
  }),
];

export const MUTANTS: readonly Mutant[] = [...API, ...EVENTS, ...OTHERS];
