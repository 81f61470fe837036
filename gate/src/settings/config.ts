import * as z from 'zod';
import { check, duration, text, whole } from '../ground/values.ts';
import { Route } from './route-settings.ts';

const addressFault = (value: string): string | null => {
  const url = /^https?:\/\//i.test(value) ? URL.parse(value) : null;
  if (url === null) return 'use an address with its scheme, like http://127.0.0.1:9000';
  if (url.username !== '' || url.password !== '') return 'leave out the user and the password';
  return url.search !== '' || url.hash !== '' ? 'leave out the query and the fragment' : null;
};
const Address = text.superRefine(check(addressFault)).transform((value) => value.replace(/\/+$/, ''));

const upstreamFault = (value: string): string | null =>
  addressFault(value) ??
  (new URL(value).pathname === '/' ? null : 'leave out the path: the gate passes paths on unchanged');
const Upstream = text.superRefine(check(upstreamFault)).transform((value) => new URL(value).origin);

const LISTEN = /^(?:(\[[0-9a-f:.]+\]|[\w.-]+):)?(\d{1,5})$/i;
const Listen = text
  .superRefine(
    check((value) => {
      const [, , port] = LISTEN.exec(value) ?? [];
      return port === undefined || Number(port) > 65_535
        ? 'use a port, or an address with a port: 0.0.0.0:8402'
        : null;
    }),
  )
  .transform((value) => {
    const [, host = '127.0.0.1', port] = LISTEN.exec(value)!;
    return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
  });

const MOST_PROXIES = 10;
const Proxies = text
  .superRefine(
    check((value) =>
      /^(true|false|\d{1,2})$/.test(value) && !(Number(value) > MOST_PROXIES)
        ? null
        : `use true, false, or the number of proxies, at most ${MOST_PROXIES}`,
    ),
  )
  .transform((value) => (value === 'true' ? 1 : value === 'false' ? 0 : Number(value)));

const HostName = text
  .superRefine(
    check((value) =>
      /^(\*|(\*\.)?[a-z0-9._-]+|\[[0-9a-f:.]+\])$/i.test(value)
        ? null
        : 'use a name without scheme and port: www.example.com, *.example.com, or * for any host',
    ),
  )
  .transform((value) => value.toLowerCase());

export const GateFile = z
  .strictObject({
    mode: z
      .enum(['proxy', 'authorize'])
      .optional()
      .describe('authorize: forwards nothing, and answers the questions of another proxy. Default proxy'),
    upstream: Upstream.optional().describe('Where unchanged requests go: http://127.0.0.1:9000'),
    listen: Listen.optional().describe('Default 127.0.0.1:8402'),
    operations: Listen.optional().describe(
      'Where /healthz, /readyz and /metrics are. Default 127.0.0.1:9402',
    ),
    quittance_url: Address.optional().describe('The payment API. Default: QUITTANCE_URL'),
    service_id: text.optional().describe('The id of the service. Default: SERVICE_ID'),
    public_url: Address.optional().describe('What buyers type. Default: PUBLIC_URL'),
    hosts: z
      .array(HostName)
      .optional()
      .describe(
        'Further hosts that callers name: www.example.com, *.example.com. Default that of public_url',
      ),
    routes: z.array(Route).optional().describe('The first that matches counts'),
    openapi: text
      .optional()
      .describe(
        'An OpenAPI file with x-payment-info, beside this one. Its routes come after those of routes',
      ),
    unmatched: z
      .enum(['pass', 'refuse'])
      .optional()
      .describe('Requests that match no route pass unpaid, or get 404. Default pass'),
    dialects: z
      .array(z.enum(['x402', 'mpp']))
      .optional()
      .describe('Further protocols. They need OFFER_SECRET'),
    trust_proxy: Proxies.optional().describe(
      'true: a proxy before the gate sets X-Forwarded-*. A number: so many in a row. Default false',
    ),
    timeouts: z
      .strictObject({
        connect: duration.optional().describe('Default 5s'),
        answer: duration.optional().describe('Until the first line of the answer. Default 60s'),
        idle: duration.optional().describe('Between two parts of a body. Default 5m'),
        body: duration
          .optional()
          .describe('For a whole body, and 1s more for each KiB that has come. Default 30s'),
        drain: duration.optional().describe('How long calls may go on after SIGTERM. Default 30s'),
      })
      .optional(),
    hash_bytes: whole(0, 104_857_600)
      .optional()
      .describe('How much of a body identifies a paid request. Longer bodies are streamed. Default 1 MiB'),
    reads_bodies: z
      .enum(['true', 'false'])
      .optional()
      .describe(
        'true: the upstream reads every body to its end, so its connections are used again after one',
      ),
    held_bytes: whole(0, 4_294_967_296)
      .optional()
      .describe(
        'How much of the bodies of paid requests is held in memory, for all together. Default 64 MiB',
      ),
    connections: whole(1, 1_000_000)
      .optional()
      .describe('How many connections of callers may be open. Further ones are closed. Default 10000'),
    stored_bytes: whole(0, 16_777_216)
      .optional()
      .describe('The longest answer that is stored for a repeat. Default 64 KiB'),
  })
  .describe('The file of a gate of Quittance');
export type GateFile = z.output<typeof GateFile>;

/** The schema for editors: JSON Schema of the file. */
export const fileSchema = (): object => z.toJSONSchema(GateFile, { io: 'input', target: 'draft-7' });

type Schema = {
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
};

/** The names of settings that the map at a path of the file can have. */
export const settingNames = (path: readonly PropertyKey[]): string[] => {
  let found: Schema[] = [fileSchema() as Schema];
  for (const part of path)
    found = found
      .flatMap((schema) => [schema, ...(schema.anyOf ?? [])])
      .map((schema) => (typeof part === 'number' ? schema.items : schema.properties?.[String(part)]))
      .filter((schema) => schema !== undefined);
  return found
    .flatMap((schema) => [schema, ...(schema.anyOf ?? [])])
    .flatMap(({ properties }) => Object.keys(properties ?? {}));
};
