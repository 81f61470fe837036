import { contractList } from '../shared/contract/index.ts';
import { limitText } from '../shared/contract/openapi.ts';
import { operatorOperations } from '../shared/contract/operator.ts';
import { type HttpOperation, type ServiceContract, subjects } from '../shared/contract/service.ts';

/** docs/map.md: where everything is, one table per kind of thing. */

export const code = (text: string) => `\`${text}\``;
const list = (names: readonly string[]) => names.map(code).join(', ') || '–';

export const table = (heads: string[], rows: string[][]): string =>
  rows.length === 0
    ? '(none)'
    : [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');

const rowsOf = (make: (contract: ServiceContract) => string[][]): string[][] => contractList.flatMap(make);

const endpointRow = (service: string, name: string, op: HttpOperation): string[] => {
  const { method, path, status, alternative } = op.http;
  return [
    method,
    code(path),
    code(`${service}.${name}`),
    list(op.access),
    op.limits.map(limitText).join('; '),
    String(status) + (alternative === undefined ? '' : ` or ${alternative.status}`),
    // The gateway answers its own operations itself; they never travel.
    service === 'gateway' ? '–' : code(subjects.rpc(service as 'quote', name)),
    code(`services/${service}/handlers/${name}.ts`),
  ];
};

const hearersOf = (fact: string): string[] =>
  contractList.flatMap(({ name, consumes }) =>
    consumes.some((each) => each === fact) ? [`services/${name}/consumers/${fact}.ts`] : [],
  );

const endpoints = () =>
  table(
    ['Method', 'Path', 'Operation', 'Credential', 'Limits', 'Status', 'Subject', 'Handler'],
    rowsOf(({ name, operations }) =>
      Object.entries(operations).map(([operation, op]) => endpointRow(name, operation, op)),
    ),
  );

const internal = () =>
  table(
    ['Subject', 'Callers', 'What', 'Handler'],
    rowsOf(({ name, internal }) =>
      Object.entries(internal).map(([operation, { callers, summary }]) => [
        code(subjects.internal(name, operation)),
        list(callers),
        summary,
        code(
          Object.hasOwn(operatorOperations, operation)
            ? 'shared/operator/handlers.ts'
            : `services/${name}/handlers/${operation}.ts`,
        ),
      ]),
    ),
  );

const events = () =>
  table(
    ['Subject', 'Consumers'],
    rowsOf(({ name, events }) =>
      Object.keys(events).map((fact) => [
        code(subjects.event(name, fact)),
        list(hearersOf(`${name}.${fact}`)),
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

## Facts (JetStream stream EVENTS)

${events()}

## Jobs (JetStream stream JOBS)

${jobs()}
`;
