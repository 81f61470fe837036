import type { Command } from 'commander';
import { createProgram, VARIABLES } from '../../cli/src/program.ts';
import { leaves, NO_IO } from '../../cli/src/reference.ts';
import { EXIT_CODES } from '../../cli/src/text/exit-codes.ts';
import { fileSchema } from '../../gate/src/settings/config.ts';
import { USAGE as GATE_USAGE } from '../../gate/src/settings/settings.ts';
import { USAGE as MCP_USAGE } from '../../mcp/src/settings.ts';
import type { Metric } from '../../shared/lib/telemetry/metric.ts';
import { METRICS } from '../../shared/lib/telemetry/metrics-catalog.ts';
import { doors } from '../doors.mjs';
import { commands as operators } from '../ops/commands.ts';
import type { Schema } from './schema.ts';
import { type Entry, type Part, slim, sorted } from './surface.ts';

/** What people and their scripts use of programs: commands, options, variables, files, metrics. */

const part = (entries: readonly (readonly [string, Entry])[]): Part => ({
  entries: sorted(Object.fromEntries(entries)),
  definitions: {},
});
const object = (properties: Record<string, Schema>, required: readonly string[] = []): Schema => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
/** Names that may all be absent. */
const named = (names: readonly string[]): Schema =>
  object(Object.fromEntries(names.toSorted().map((name) => [name, {}])));

const commandEntry = (command: Command): Entry => {
  const args = command.registeredArguments;
  const choices = (values: readonly string[] | undefined) => (values === undefined ? {} : { enum: values });
  const fields = [
    ...args.map((arg) => [`<${arg.name()}>`, choices(arg.argChoices), arg.required] as const),
    ...command.options.map((option) => {
      const kind = option.required ? 'string' : option.optional ? 'any' : 'boolean';
      const schema = { ...(kind !== 'any' && { type: kind }), ...choices(option.argChoices) };
      return [option.long ?? option.flags, schema, option.mandatory] as const;
    }),
  ];
  return {
    takes: object(
      Object.fromEntries(fields.map(([name, schema]) => [name, schema])),
      fields.filter(([, , required]) => required).map(([name]) => name),
    ),
  };
};

/** The options and variables that a usage names. */
const usageEntry = (usage: string): Entry => ({
  takes: named([
    ...new Set([...usage.matchAll(/^ {2}(--[a-z-]+|[A-Z][A-Z_]+)/gm)].map(([, name]) => name!)),
    ...new Set([...usage.matchAll(/\[(--[a-z-]+)/g)].map(([, name]) => name!)),
  ]),
});

/** The arguments of an operators' command: `<account_id> [factor]`. */
const operatorsEntry = (args: string): Entry => {
  const words = args.match(/<[^>]+>|\[[^\]]+\]/g) ?? [];
  return {
    takes: object(
      Object.fromEntries(words.map((word) => [word.slice(1, -1), {}])),
      words.filter((word) => word.startsWith('<')).map((word) => word.slice(1, -1)),
    ),
  };
};

export const cliPart = (): Part => {
  const program = createProgram(NO_IO);
  return part([
    ['quittance', commandEntry(program)],
    ...leaves(program).map(([name, command]) => [name, commandEntry(command)] as const),
    ['variables of quittance', { takes: named(VARIABLES.flatMap(([names]) => names.split(', '))) }],
    [
      'exit codes of quittance',
      { gives: { enum: Object.values(EXIT_CODES).map(([code]) => code), further: true } },
    ],
    ['quittance-gate', usageEntry(GATE_USAGE)],
    ['quittance-mcp', usageEntry(MCP_USAGE)],
    ...operators.map(({ name, args }) => [`ops ${name}`, operatorsEntry(args)] as const),
    ...Object.keys(doors.ops.commands).map((name) => [`ops ${name}`, {}] as const),
  ]);
};

export const gatePart = (): Part => part([['gate.yaml', { takes: slim(fileSchema()) }]]);

/** A value of a label may be added, because nobody lists all of them in a query. */
const labelsOf = ({ labels, by }: Metric): Schema =>
  object(
    Object.fromEntries(
      Object.entries({ ...labels, service_name: by }).map(([label, values]) => [
        label.replaceAll('.', '_'),
        values === null ? {} : { enum: values.toSorted(), further: true as const },
      ]),
    ),
  );

export const metricsPart = (): Part =>
  part(
    Object.entries<Metric>(METRICS).map(([name, metric]) => [
      name,
      { is: { kind: metric.kind, unit: metric.unit }, gives: labelsOf(metric) },
    ]),
  );
