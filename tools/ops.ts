// `npm run ops -- <command>`: what operators read and change in a running system
// (docs/operations.md). It calls the services over NATS as the operator's own user, which may call
// only the operations for operators, and only in the operator's own name.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Stack } from '../deploy/local/stack/stack-file.ts';
import { nearest } from '../shared/contract/nearest.ts';
import { OperatorName } from '../shared/contract/service.ts';
import { NkeySeed } from '../shared/lib/config.ts';
import { doors } from './doors.mjs';
import { commands } from './ops/commands.ts';
import { connectOperator, type Login, type Operator } from './ops/connect.ts';
import { helpOf, helpText } from './ops/help.ts';
import { Refusal, runCommand } from './ops/run.ts';

const OPTIONS = {
  environment: { type: 'string' },
  stack: { type: 'string' },
  reason: { type: 'string' },
  ticket: { type: 'string' },
  as: { type: 'string' },
  yes: { type: 'boolean' },
  json: { type: 'boolean' },
  all: { type: 'boolean' },
  used: { type: 'boolean' },
  limit: { type: 'string' },
  seconds: { type: 'string' },
  account: { type: 'string' },
  period: { type: 'string' },
  since: { type: 'string' },
  logs: { type: 'string' },
  known: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Where = { stack?: string; environment?: string; as?: string };

const stackFileOf = (env: NodeJS.ProcessEnv, { stack }: { stack?: string }): string =>
  stack ?? env.STACK_FILE ?? path.join(import.meta.dirname, '..', '.local', 'stack.json');

/** Of NATS_URL, NATS_OPERATOR and NATS_NKEY_SEED if they are set, otherwise of the local stack. */
const loginOf = (env: NodeJS.ProcessEnv, values: Where): Login => {
  const { NATS_URL: url, NATS_NKEY_SEED, NATS_OPERATOR } = env;
  if (url !== undefined) {
    const operator = values.as ?? NATS_OPERATOR;
    if (!OperatorName.safeParse(operator).success || !NkeySeed.safeParse(NATS_NKEY_SEED).success)
      throw new Refusal('NATS_URL requires NATS_OPERATOR, your name, and NATS_NKEY_SEED, your seed (SU…)');
    const environment = env.ENVIRONMENT ?? 'as NATS_URL says';
    return { environment, url, operator: operator!, seed: NATS_NKEY_SEED! };
  }
  const file = stackFileOf(env, values);
  let stack: Stack;
  try {
    stack = JSON.parse(readFileSync(file, 'utf8')) as Stack;
  } catch {
    throw new Refusal(
      `no stack is running (${file}): start one, or set NATS_URL, NATS_OPERATOR and NATS_NKEY_SEED`,
    );
  }
  const environment = values.environment ?? Object.keys(stack.environments)[0]!;
  const found = stack.environments[environment];
  if (found === undefined)
    throw new Refusal(
      `this stack has no environment ${environment}; it has ${Object.keys(stack.environments).join(', ')}`,
    );
  const names = Object.keys(found.operators);
  const operator = values.as ?? names[0]!;
  const seed = found.operators[operator];
  if (seed === undefined)
    throw new Refusal(`this stack has no operator ${operator}; it has ${names.join(', ')}`);
  return { environment, url: stack.nats_url, operator, seed };
};

/** The page of traces, if the stack on this machine collects them. */
const tracesOf = (env: NodeJS.ProcessEnv, values: Where): string | null => {
  if (env.NATS_URL !== undefined) return null;
  try {
    return (JSON.parse(readFileSync(stackFileOf(env, values), 'utf8')) as Stack).traces_url;
  } catch {
    return null;
  }
};

const main = async (): Promise<number> => {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  const [group, verb] = positionals;
  const name = [group, verb].filter((part) => part !== undefined).join(' ');
  // The singular of a group is accepted (`account find`).
  const command =
    commands.find((one) => one.name === name || one.name === group) ??
    commands.find((one) => one.name === `${group}s ${verb}`);
  if (command === undefined && group !== undefined) {
    // The commands of the same group, in singular or plural, if there is one.
    const groupOf = (text: string) => text.split(' ')[0]!.replace(/s$/, '');
    const near = commands.filter((one) => groupOf(one.name) === groupOf(group));
    const meant = nearest(name, [...commands.map((one) => one.name), ...Object.keys(doors.ops.commands)]);
    const guess = meant === undefined ? '' : `; did you mean "${meant}"?`;
    console.error(`there is no command "${name}"${guess}`);
    // Without a near name, the commands of the group help. The whole list is 40 lines.
    if (meant === undefined && near.length > 0) console.error(`\n${helpText(near)}`);
    if (meant === undefined && near.length === 0) console.error('`npm run ops` lists the commands.');
    return 64; // EX_USAGE of sysexits.h
  }
  if (values.help === true || command === undefined) {
    console.log(command === undefined ? helpText(commands, doors.ops.commands) : helpOf(command));
    return 0;
  }
  const args = positionals.slice(command.name.split(' ').length);
  const { logs = path.join(path.dirname(stackFileOf(process.env, values)), 'logs') } = values;
  let bus: Operator | undefined;
  const connect = async () => {
    bus = await connectOperator(loginOf(process.env, values));
    return bus;
  };
  try {
    return await runCommand(
      command,
      args,
      { ...values, logs, traces: tracesOf(process.env, values) },
      connect,
    );
  } finally {
    await bus?.close();
  }
};

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof Refusal || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
  console.error(known ? (error as Error).message : error);
  // The process does not exit by itself, because the client retries an unavailable bus forever.
  process.exit(known ? 64 : 1);
}
