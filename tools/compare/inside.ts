import { z } from 'zod';
import { REGISTER } from '../../mcp/src/server.ts';
import { Client } from '../../shared/contract/client.ts';
import { contractList } from '../../shared/contract/index.ts';
import { Principal } from '../../shared/contract/principal.ts';
import { SERVICE_NAMES } from '../../shared/contract/service.ts';
import { QuoteClaims, SettlementClaims } from '../../shared/contract/tokens.ts';
import { syntheticConfig } from '../../shared/synthetic/config.ts';
import { configOf } from '../k8s/settings.ts';
import type { Definitions, Schema } from './schema.ts';
import { type Entry, type Part, slim, sorted } from './surface.ts';

/** What is declared by zod: messages between services, settings, and tools of agents. */

/** Converts schemas. Those with an id become definitions. */
const createConverter = () => {
  const definitions: Record<string, Schema> = {};
  const convert = (schema: z.ZodType): Schema => {
    // Custom checks and types of JavaScript have no JSON Schema.
    const { $defs = {}, ...root } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    for (const [name, each] of Object.entries($defs)) definitions[name] = slim(each);
    return slim(root);
  };
  return { convert, definitions: (): Definitions => sorted(definitions) };
};

/** A part of entries that are made with one converter. */
const partOf = (make: (convert: (schema: z.ZodType) => Schema) => [string, Entry][]): Part => {
  const { convert, definitions } = createConverter();
  const entries = sorted(Object.fromEntries(make(convert)));
  return { entries, definitions: definitions() };
};

/** Requests that chain-submitter stores and that the next version reads again. */
const storedRequests = async (): Promise<Record<string, z.ZodType>> => {
  const { DelegationRequest, IncomingRequest, OutgoingRequest, TransferRequest } = await import(
    '../../services/chain-submitter/transactions/parse-order.ts'
  );
  return { DelegationRequest, IncomingRequest, OutgoingRequest, TransferRequest };
};

type Message = { asks?: z.ZodType; passes?: z.ZodType };

/** Every message that services of two versions send or leave each other. */
const messages = async (): Promise<[name: string, Message][]> => [
  ...contractList.flatMap(({ name: service, events, jobs, internal }): [string, Message][] => [
    ...Object.entries(events).map(([name, passes]): [string, Message] => [
      `event ${service}.${name}`,
      { passes },
    ]),
    ...Object.entries(jobs).map(([name, { payload }]): [string, Message] => [
      `job ${service}.${name}`,
      { passes: payload },
    ]),
    ...Object.entries(internal).map(([name, { input, output }]): [string, Message] => [
      `call ${service}.${name}`,
      { asks: input, passes: output },
    ]),
  ]),
  // Who calls, beside the input of each call of the gateway.
  ['caller Principal', { passes: Principal }],
  ['caller Client', { passes: Client }],
  // One version signs what another one reads. Its reader refuses an unknown claim.
  ['token quote', { asks: QuoteClaims }],
  ['token settlement', { asks: SettlementClaims }],
  ...Object.entries(await storedRequests()).map(([name, passes]): [string, Message] => [
    `stored ${name}`,
    { passes },
  ]),
];

/** How this tree reads each message whose reader ignores unknown fields, by its name. */
export const readers = async (): Promise<Readonly<Record<string, z.ZodType>>> =>
  Object.fromEntries(
    (await messages()).flatMap(([name, { passes }]) => (passes === undefined ? [] : [[name, passes]])),
  );

export const busPart = async (): Promise<Part> => {
  const all = await messages();
  return partOf((convert) =>
    all.map(([name, { passes, asks }]): [string, Entry] => [
      name,
      { ...(asks && { asks: convert(asks) }), ...(passes && { passes: convert(passes) }) },
    ]),
  );
};

type Tool = { inputSchema?: z.ZodType; outputSchema?: z.ZodType };
/** The tools that `quittance-mcp` gives agents. */
export const toolsPart = (): Part => {
  const found: [string, Tool][] = [];
  const server = { registerTool: (name: string, tool: Tool) => found.push([name, tool]) };
  // Their texts name these amounts.
  const settings = { maxAmountMicro: 0n, maxPerDayMicro: 0n, askAboveMicro: 0n };
  for (const register of REGISTER) register(server as never, { settings } as never);
  return partOf((convert) =>
    found.map(([name, { inputSchema, outputSchema }]) => [
      name,
      {
        ...(inputSchema && { takes: convert(inputSchema) }),
        ...(outputSchema && { gives: convert(outputSchema) }),
      },
    ]),
  );
};

/** The settings of each process. */
export const settingsPart = async (): Promise<Part> => {
  const configs = [
    ...(await Promise.all(
      (['gateway', ...SERVICE_NAMES] as const).map(async (name) => [name, await configOf(name)] as const),
    )),
    ['synthetic', syntheticConfig] as const,
  ];
  return partOf((convert) => configs.map(([name, config]) => [name, { takes: convert(config) }]));
};
