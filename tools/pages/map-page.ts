import { globSync } from 'node:fs';
import path from 'node:path';
import { deviceText, isOpenToDevices } from '../../shared/contract/device-access.ts';
import { contractList } from '../../shared/contract/index.ts';
import { limitText } from '../../shared/contract/openapi.ts';
import { operatorOperations } from '../../shared/contract/operator.ts';
import {
  type HttpOperation,
  type InternalOperation,
  isForOperators,
  SERVICE_NAMES,
  type ServiceContract,
  subjects,
} from '../../shared/contract/service.ts';

/** docs/map.md: the place of everything, one table per kind of thing. */

export const code = (text: string) => `\`${text}\``;
const list = (names: readonly string[]) => names.map(code).join(', ') || '–';

export const table = (heads: string[], rows: string[][]): string =>
  rows.length === 0
    ? '(none)'
    : [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const rowsOf = (make: (contract: ServiceContract) => string[][]): string[][] => contractList.flatMap(make);

const root = path.resolve(import.meta.dirname, '../..');
const sources = globSync('services/**/*.ts', { cwd: root }).toSorted();
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The file that handles an operation: `<operation>.ts` in a noun folder of its service. */
const handlerOf = (service: string, operation: string): string => {
  const inHandlers = `services/${service}/handlers/${operation}.ts`;
  const named = new RegExp(`^services/${service}/(?!handlers/)[^/]+/${kebab(operation)}\\.ts$`);
  return sources.find((file) => named.test(file)) ?? inHandlers;
};

/** The file that consumes an event: `on-<service>-<event>.ts`, or `on-<service>.ts` for several. */
const consumerOf = (service: string, event: string): string => {
  const [publisher, name] = event.split('.') as [string, string];
  const inConsumers = `services/${service}/consumers/${event}.ts`;
  const named = new RegExp(`^services/${service}/[^/]+/on-${publisher}(-${kebab(name)})?\\.ts$`);
  return sources.find((file) => named.test(file)) ?? inConsumers;
};

const authorisedBy = ({ authorisedBy = 'nothing' }: HttpOperation): string =>
  authorisedBy === 'nothing' ? '–' : list([...new Set(Object.values(authorisedBy))]);

/** Whether the sign-in of a device may call it: `part` for some inputs only. */
const byDevice = (op: HttpOperation): string => {
  if (!op.access.includes('jwt') || !isOpenToDevices(op)) return '–';
  return deviceText(op) === undefined ? 'yes' : 'part';
};

const endpointRow = (service: string, name: string, op: HttpOperation): string[] => {
  const { method, path, status, alternative } = op.http;
  return [
    method,
    code(path),
    code(`${service}.${name}`),
    list(op.access),
    authorisedBy(op),
    byDevice(op),
    op.limits.map(limitText).join('; '),
    String(status) + (alternative === undefined ? '' : ` or ${alternative.status}`),
    // The gateway handles its own operations, so no message is sent for them.
    service === 'gateway' ? '–' : code(subjects.rpc(service as 'quote', name)),
    code(handlerOf(service, name)),
  ];
};

const subscribersOf = (event: string): string[] =>
  contractList.flatMap(({ name, consumes }) =>
    consumes.some((each) => each === event) ? [consumerOf(name, event)] : [],
  );

const endpoints = () =>
  table(
    [
      'Method',
      'Path',
      'Operation',
      'Credential',
      'Authorised by',
      'By a device',
      'Limits',
      'Status',
      'Subject',
      'Handler',
    ],
    rowsOf(({ name, operations }) =>
      Object.entries(operations).map(([operation, op]) => endpointRow(name, operation, op)),
    ),
  );

const subjectOf = (service: string, operation: string, one: InternalOperation): string =>
  isForOperators(one)
    ? subjects.operator('<name>', service as 'quote', operation)
    : subjects.internal(service as 'quote', operation);

const internal = () =>
  table(
    ['Subject', 'Callers', 'What', 'Handler'],
    rowsOf(({ name, internal }) =>
      Object.entries<InternalOperation>(internal)
        .filter(([operation]) => !Object.hasOwn(operatorOperations, operation))
        .map(([operation, one]) => [
          code(subjectOf(name, operation, one)),
          list(one.callers),
          one.summary,
          code(handlerOf(name, operation)),
        ]),
    ),
  );

/** The operations that every service offers operators. */
const ofEveryService = () =>
  table(
    ['Subject', 'What'],
    Object.entries<InternalOperation>(operatorOperations).map(([operation, one]) => [
      code(subjectOf('<service>', operation, one)),
      one.summary,
    ]),
  );

const events = () =>
  table(
    ['Subject', 'Consumers'],
    rowsOf(({ name, events }) =>
      Object.keys(events).map((event) => [
        code(subjects.event(name, event)),
        list(subscribersOf(`${name}.${event}`)),
      ]),
    ),
  );

const jobs = () =>
  table(
    ['Subject', 'Producers', 'What', 'Worker'],
    rowsOf(({ name, jobs }) =>
      Object.entries(jobs).map(([job, { producers, summary }]) => [
        code(subjects.job(name, job)),
        list(producers),
        summary,
        code(name),
      ]),
    ),
  );

/** The page's text. */
export const mapPage = (): string => `# Map

Generated from \`shared/contract/\` by \`npm run generate\`; do not edit.

## Endpoints

${endpoints()}

## Operations between services

${internal()}

## Operations of every service for operators

\`shared/operator/handlers.ts\` handles them for each of ${list(SERVICE_NAMES)}.

${ofEveryService()}

## Events (JetStream stream EVENTS)

${events()}

## Jobs (JetStream stream JOBS)

${jobs()}
`;
