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

/** Every message that services of two versions send or leave each other. */
export const busPart = async (): Promise<Part> => {
  const stored = await storedRequests();
  return partOf((convert) => [
    ...contractList.flatMap(({ name: service, events, jobs, internal }): [string, Entry][] => [
      ...Object.entries(events).map(([name, payload]): [string, Entry] => [
        `event ${service}.${name}`,
        { passes: convert(payload) },
      ]),
      ...Object.entries(jobs).map(([name, { payload }]): [string, Entry] => [
        `job ${service}.${name}`,
        { passes: convert(payload) },
      ]),
      ...Object.entries(internal).map(([name, { input, output }]): [string, Entry] => [
        `call ${service}.${name}`,
        { asks: convert(input), passes: convert(output) },
      ]),
    ]),
    // Who calls, beside the input of each call of the gateway.
    ['caller Principal', { passes: convert(Principal) }],
    ['caller Client', { passes: convert(Client) }],
    // One version signs what another one reads. Its reader refuses an unknown claim.
    ['token quote', { asks: convert(QuoteClaims) }],
    ['token settlement', { asks: convert(SettlementClaims) }],
    ...Object.entries(stored).map(([name, schema]): [string, Entry] => [
      `stored ${name}`,
      { passes: convert(schema) },
    ]),
  ]);
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
