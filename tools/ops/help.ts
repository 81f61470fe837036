import type { Command } from './command.ts';
import { tableText } from './table.ts';

const OPTIONS = `Options
  --environment <name>  of the stack on this machine; default its first
  --stack <file>        default .local/stack.json
  --reason <text>       why: required for every change, kept with it
  --actor <name>        who; default your name on this machine
  --yes                 make the change without asking
  --json                answer for programs
  --all, --limit <n>    of lists: decided ones too; at most so many rows (default 50)
  --seconds <n>         of drain: how long it waits (default 300)

Elsewhere than beside a local stack: NATS_URL, NATS_USER and NATS_PASSWORD name the bus and the operator's user on it.
Exit codes: 0 done or already so, 1 refused by a service or away, 64 wrong words, 75 not confirmed, or not drained in time.`;

const typed = ({ name, words }: Command) => `npm run ops -- ${name}${words === '' ? '' : ` ${words}`}`;

/** What there is. */
export const helpText = (commands: readonly Command[]): string =>
  [
    'Operators’ commands (docs/operations.md). Each change is shown, confirmed, and kept with who, when and why.',
    tableText(commands.map((one) => [`  ${one.name} ${one.words}`.trimEnd(), one.summary])),
    OPTIONS,
  ].join('\n\n');

/** What one command does. */
export const helpOf = (command: Command): string =>
  [`${typed(command)}\n\n${command.summary}.`, command.details, OPTIONS].filter(Boolean).join('\n\n');
