import type { Command } from './command.ts';
import { foldLines, tableText } from './table.ts';

const OPTIONS = `Options
  --environment <name>  an environment of the stack on this machine; default: the first
  --stack <file>        default .local/stack.json
  --reason <text>       why; required for every change and recorded with it
  --ticket <text>       why you look at a person; required for what shows one, and recorded
  --as <name>           an operator of the stack on this machine; default: the first
  --yes                 make the change without confirmation
  --json                output for programs
  --all, --limit <n>    for lists: include decided messages; maximum number of rows (default 50)
  --used                for deprecated: the accounts that have called deprecated operations
  --seconds <n>         for drain: how long it waits (default 300)
  --account <id>        for payments list: the account, by its id or e-mail address;
                        for payment show: the account id of a payment_attempt_id;
                        for audit: whose looks and changes are listed
  --period <month|day>  for costs: a month (2026-11) or a day (2026-11-28) in UTC; default: this month
  --since <when>        for accounts show and payments list: a time (2026-11-28T14:00Z) or an age (90m, 24h, 7d)
  --known <file>        for audit verify: the output of an earlier one with --json
  --logs <path>         for request show: a file or folder of JSON lines, or - for stdin

Without a local stack, NATS_URL gives the bus, NATS_OPERATOR your name and NATS_NKEY_SEED your seed, and TLS_CA_FILE
the authority of a server at tls://. The server lets you act in your own name only.
Exit codes: 0 done or unchanged, 1 refused by a service or unavailable, 64 invalid arguments, 75 not confirmed or not drained in time.`;

const typed = ({ name, args }: Command) => `npm run ops -- ${name}${args === '' ? '' : ` ${args}`}`;

/**
 * The list of commands.
 * @param programs commands that need no bus, with options of their own
 */
export const helpText = (
  commands: readonly Command[],
  programs: Readonly<Record<string, { about: string }>> = {},
): string =>
  [
    'Operators’ commands (docs/operations.md). Each change is shown, confirmed, and recorded with your name, time and reason.',
    tableText(commands.map((one) => [`  ${one.name} ${one.args}`.trimEnd(), one.summary])),
    ...(Object.keys(programs).length === 0
      ? []
      : [
          'Commands with options of their own (--help):',
          tableText(Object.entries(programs).map(([name, { about }]) => [`  ${name}`, about])),
        ]),
    foldLines(OPTIONS),
  ].join('\n\n');

export const helpOf = (command: Command): string =>
  foldLines(
    [`${typed(command)}\n\n${command.summary}.`, command.details, OPTIONS].filter(Boolean).join('\n\n'),
  );
