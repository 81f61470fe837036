import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { ServiceError } from '../../shared/contract/errors.ts';
import { type Inspection, Reason } from '../../shared/contract/operator.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Attribution, Command, CommandOutput, Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { sinceOf } from './since.ts';
import { foldLines, tableText } from './table.ts';

export { Refusal };

type Values = {
  reason?: string | undefined;
  ticket?: string | undefined;
  yes?: boolean | undefined;
  json?: boolean | undefined;
  all?: boolean | undefined;
  used?: boolean | undefined;
  limit?: string | undefined;
  seconds?: string | undefined;
  account?: string | undefined;
  period?: string | undefined;
  since?: string | undefined;
  known?: string | undefined;
  logs: string;
  traces: string | null;
};

const NOT_CONFIRMED = 75; // EX_TEMPFAIL of sysexits.h: the same call may succeed later

/** Checked first, so that a change without a reason is not planned. */
const attributionOf = ({ reason }: Values): Attribution => {
  if (reason === undefined) throw new Refusal('--reason is missing: it is recorded with the change');
  const parsed = Reason.safeParse(reason);
  if (!parsed.success) throw new Refusal(`--reason: ${parsed.error.issues[0]?.message}`);
  return { reason };
};

/**
 * Why the operator looks at a person. A change has a reason already, and what its plan shows is
 * recorded with that.
 */
const inspectionOf = ({ inspects }: Command, { ticket, reason }: Values): Inspection | null => {
  const why = ticket ?? reason;
  if (why === undefined) {
    if (inspects !== true) return null;
    throw new Refusal('--ticket is missing: a look at a person is recorded with it (`audit --account`)');
  }
  const parsed = Reason.safeParse(why);
  if (!parsed.success) throw new Refusal(`--ticket: ${parsed.error.issues[0]?.message}`);
  return { ticket: why, inspection_id: randomUUID() };
};

const confirmed = async (question: string): Promise<boolean> => {
  if (!process.stdin.isTTY)
    throw new Refusal('stdin is not a terminal, so the change cannot be confirmed: add --yes');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await prompt.question(question)).trim());
  } finally {
    prompt.close();
  }
};

const print = ({ json, text, code = 0 }: CommandOutput, values: Values): number => {
  console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
  return code;
};

const change = async (
  plan: Plan,
  attribution: Attribution,
  values: Values,
  { environment, name }: Operator,
): Promise<number> => {
  if (plan.table === null) {
    return print(
      { json: { changed: false }, text: 'This is already the state. Nothing was changed.' },
      values,
    );
  }
  // With --json too, so that the plan is shown before it is confirmed. stdout is for the result.
  const show = values.json === true ? console.error : console.log;
  show(
    [`Environment ${environment}\n`, tableText(plan.table), '', ...plan.notes.map(foldLines), ''].join('\n'),
  );
  if (
    values.yes !== true &&
    !(await confirmed(`As ${name}, because "${attribution.reason}". Continue? [y/N] `))
  ) {
    console.error('Nothing was changed.');
    return NOT_CONFIRMED;
  }
  return print(await plan.make(attribution), values);
};

/**
 * Runs a command and prints its output.
 * @param connect connects to the bus, for a command that needs it
 * @returns the exit code
 * @throws Refusal for invalid arguments
 */
export const runCommand = async (
  command: Command,
  args: readonly string[],
  values: Values,
  connect: () => Promise<Operator>,
): Promise<number> => {
  const expected = command.args.split(' ').filter(Boolean);
  if (args.length !== expected.length)
    throw new Refusal(
      `the number of arguments is wrong: npm run ops -- ${command.name} ${command.args}`.trimEnd(),
    );
  const limit = Number(values.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200)
    throw new Refusal('--limit must be a whole number from 1 to 200');
  const seconds = Number(values.seconds ?? 300);
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new Refusal('--seconds must be a whole number of 0 or more');
  const { account = null, period = null, known = null, logs, traces } = values;
  const since = values.since === undefined ? null : sinceOf(values.since, new Date());
  const [all, used] = [values.all === true, values.used === true];
  const options = {
    inspection: null,
    all,
    used,
    limit,
    seconds,
    account,
    period,
    since,
    logs,
    traces,
    known,
  };
  try {
    if ('read' in command) return print(await command.read(args, options), values);
    if ('show' in command) {
      const inspection = inspectionOf(command, values);
      return print(await command.show(await connect(), args, { ...options, inspection }), values);
    }
    const attribution = attributionOf(values);
    const inspection = inspectionOf(command, values);
    const operator = await connect();
    const plan = await command.plan(operator, args, { ...options, inspection });
    return await change(plan, attribution, values, operator);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message } = error;
    if (values.json === true) console.log(JSON.stringify({ error: { code, message } }, null, 2));
    else console.error(`${code}: ${message}`);
    return 1;
  }
};
