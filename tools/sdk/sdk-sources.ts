import { readFileSync } from 'node:fs';
import path from 'node:path';
import { MAX_EXTENSIONS } from '../../shared/contract/chain-submitter.ts';
import { deprecationText } from '../../shared/contract/deprecated.ts';
import { ERRORS } from '../../shared/contract/errors.ts';
import type { Json } from '../../shared/contract/examples.ts';
import { contractList } from '../../shared/contract/index.ts';
import { byName, CAPS, COUNTED_CAPS, LIMITS } from '../../shared/contract/limits.ts';
import { operationId } from '../../shared/contract/openapi.ts';
import { errorsOf, type HttpOperation } from '../../shared/contract/service.ts';
import { DECLINE_REASONS, DECLINES } from '../../shared/contract/settlement.ts';
import { schemaNames } from './sdk-types.ts';

/**
 * The parts of the contract that the SDK needs beside the types (tools/sdk/sdk-types.ts), written
 * out,
 * so that neither zod nor a schema is shipped with it.
 */

const HEAD = '// Generated from shared/contract/ by `npm run generate`; do not edit.\n';
const DEFAULT_TIMEOUT_SECONDS = 5;

/**
 * Services with the operations that a client may call. A provider's webhook is not one, because its
 * signature covers the raw bytes.
 */
const callable = (): { service: string; operations: [string, HttpOperation][] }[] =>
  contractList
    .map(({ name, operations }) => ({
      service: name,
      operations: Object.entries(operations).filter(([, { rawBody }]) => rawBody !== true),
    }))
    .filter(({ operations }) => operations.length > 0);

const isList = ({ query }: HttpOperation): boolean => 'cursor' in query.shape;

/** One operation as the client needs it, without default values. */
const runtime = ({
  http,
  query,
  body,
  access,
  repeatable,
  idempotency,
  money,
  timeoutSeconds,
}: HttpOperation): Json => ({
  method: http.method,
  path: http.path,
  ...(Object.keys(query.shape).length > 0 ? { query: Object.keys(query.shape) } : {}),
  ...(Object.keys(body.shape).length > 0 ? { body: true } : {}),
  ...(access.length === 0 ? { anonymous: true } : {}),
  ...(repeatable === undefined ? {} : { repeatable: repeatable === true ? true : repeatable.with }),
  ...(idempotency === undefined ? {} : { keyed: true }),
  ...('cursor' in query.shape ? { list: true } : {}),
  ...(money === 'moves' ? { moves: true } : {}),
  ...(timeoutSeconds === DEFAULT_TIMEOUT_SECONDS ? {} : { timeoutSeconds }),
});

/** A method of the client, with its documentation. */
export const signature = (service: string, name: string, op: HttpOperation): string => {
  const id = `'${operationId(service, name)}'`;
  const { summary, description } = op;
  const optional = op.input.safeParse({}).success ? '?' : '';
  const text = [summary, description]
    .filter((line) => line !== undefined)
    .join('. ')
    .replaceAll('*/', '* /');
  const mark = op.deprecated && `\n     * @deprecated ${deprecationText(op.deprecated)}.\n     `;
  return [
    `    /** ${text} \`${op.http.method} ${op.http.path}\`. Errors: ${errorsOf(op).join(', ')}.${mark ?? ' '}*/`,
    `    ${name}(input${optional}: Input<${id}>, options?: CallOptions): ${isList(op) ? 'Listing' : 'Answer'}<${id}>;`,
  ].join('\n');
};

/** The client's methods: their types, and the method and path of each. */
export const sdkOperations = (): string => {
  const services = callable();
  const methods = services.map(
    ({ service, operations }) =>
      `  ${service}: {\n${operations.map(([name, op]) => signature(service, name, op)).join('\n')}\n  };`,
  );
  const table = services.map(
    ({ service, operations }) =>
      `  ${service}: {\n${operations.map(([name, op]) => `    ${name}: ${JSON.stringify(runtime(op))},`).join('\n')}\n  },`,
  );
  return `${HEAD}import type { Answer, CallOptions, Input, Listing, OperationInfo } from '../types.ts';

/** Every operation of the API by its name. */
export interface Operations {
${methods.join('\n')}
}

export const OPERATIONS = {
${table.join('\n')}
} as const satisfies { [S in keyof Operations]: { [O in keyof Operations[S]]: OperationInfo } };

export type {
${schemaNames()
  .map((name) => `  ${name},`)
  .join('\n')}
} from './types.ts';
`;
};

const className = (code: string): string => {
  const parts = code.replace(/_error$/, '').split('_');
  return `${parts.map((part) => part[0]!.toUpperCase() + part.slice(1)).join('')}Error`;
};

/** The texts of limits and of reasons of declines that the console and other clients show. */
export const sdkLimits = (): string => {
  const badges = DECLINE_REASONS.flatMap((reason) => {
    const { badge } = DECLINES[reason];
    return badge === undefined ? [] : [[reason, badge]];
  });
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return `${HEAD}
/** The limits that an owner may give a delegate: the label in a form, and the help of an option. */
export const CAPS = ${json(byName(CAPS, (name) => ({ label: LIMITS[name].cap.label, option: LIMITS[name].cap.option })))} as const;
export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as CapName[];

/** Those that payments use up, with the label of their period. */
export const COUNTED_CAPS = ${json(byName(COUNTED_CAPS, (name) => LIMITS[name].cap.usage.label))} as const;
export type CountedCap = keyof typeof COUNTED_CAPS;
export const COUNTED_NAMES = Object.keys(COUNTED_CAPS) as CountedCap[];

/** The reasons of declines in a few words. */
export const DECLINE_BADGES: Readonly<Record<string, string>> = ${json(Object.fromEntries(badges))};

/** How often the ceiling of an authorization can be extended. */
export const MAX_EXTENSIONS = ${MAX_EXTENSIONS};
`;
};

/** A class for each code of the error table. Its name is a text, so that it survives a minifier. */
export const sdkErrors = (): string => {
  const rows = Object.entries(ERRORS);
  const classes = rows.map(
    ([code, { http, retryable, meaning }]) => `/** ${http}: ${meaning} */
export class ${className(code)} extends ApiError {
  override readonly name: string = '${className(code)}';
  declare readonly code: '${code}';
  static readonly retryable = ${retryable};
}`,
  );
  return `${HEAD}import { ApiError } from '../errors.ts';

${classes.join('\n\n')}

/** The class of each error code. */
export const ERROR_CLASSES = {
${rows.map(([code]) => `  ${code}: ${className(code)},`).join('\n')}
} as const;
`;
};

/** The one renderer and parser of amounts: the SDK imports only its own files. */
export const sdkCopy = (file: string): string => {
  const source = readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8');
  return `// A copy of ${file} by \`npm run generate\`; do not edit.\n\n${source}`;
};
