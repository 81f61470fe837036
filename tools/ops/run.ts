import { userInfo } from 'node:os';
import { createInterface } from 'node:readline/promises';
import { ServiceError } from '../../shared/contract/errors.ts';
import { operatorFields } from '../../shared/contract/operator.ts';
import type { Command, Planned, Said, Signed } from './command.ts';
import type { Operator } from './connect.ts';
import { Refusal } from './refusal.ts';
import { tableText } from './table.ts';

export { Refusal };

type Values = {
  environment: string;
  reason?: string | undefined;
  actor?: string | undefined;
  yes?: boolean | undefined;
  json?: boolean | undefined;
  all?: boolean | undefined;
  limit?: string | undefined;
  seconds?: string | undefined;
};

const NOT_CONFIRMED = 75; // EX_TEMPFAIL of sysexits.h: the same call may succeed later

/** Read before anything is asked for, so that a change without a reason is never even planned. */
const signedBy = ({ actor, reason }: Values): Signed => {
  if (reason === undefined) throw new Refusal('--reason is needed: it is kept with the change');
  const fields = { actor: actor ?? userInfo().username, reason };
  for (const field of ['actor', 'reason'] as const) {
    const parsed = operatorFields[field].safeParse(fields[field]);
    if (!parsed.success) throw new Refusal(`--${field}: ${parsed.error.issues[0]?.message}`);
  }
  return fields;
};

const confirmed = async (question: string): Promise<boolean> => {
  if (!process.stdin.isTTY) throw new Refusal('there is nobody to ask: add --yes');
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return /^y(es)?$/i.test((await asking.question(question)).trim());
  } finally {
    asking.close();
  }
};

const say = ({ json, text, code = 0 }: Said, values: Values): number => {
  console.log(values.json === true ? JSON.stringify(json, null, 2) : text);
  return code;
};

const change = async (planned: Planned, signed: Signed, values: Values): Promise<number> => {
  if (planned.table === null) {
    return say({ json: { changed: false }, text: 'It is so already; nothing was changed.' }, values);
  }
  // Beside --json too, so that the plan is seen before it is confirmed; stdout stays for the answer.
  const show = values.json === true ? console.error : console.log;
  show(
    [`Environment ${values.environment}\n`, tableText(planned.table), '', ...planned.notes, ''].join('\n'),
  );
  if (
    values.yes !== true &&
    !(await confirmed(`As ${signed.actor}, because "${signed.reason}". Go on? [y/N] `))
  ) {
    console.error('Nothing was changed.');
    return NOT_CONFIRMED;
  }
  return say(await planned.make(signed), values);
};

/**
 * Runs one command and prints what it says.
 * @returns the exit code
 * @throws Refusal for words that mean nothing
 */
export const runCommand = async (
  command: Command,
  words: readonly string[],
  values: Values,
  operator: Operator,
): Promise<number> => {
  const wanted = command.words.split(' ').filter(Boolean);
  if (words.length !== wanted.length)
    throw new Refusal(`npm run ops -- ${command.name} ${command.words}`.trimEnd());
  const limit = Number(values.limit ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 200) throw new Refusal('--limit: 1 to 200');
  const seconds = Number(values.seconds ?? 300);
  if (!Number.isInteger(seconds) || seconds < 0) throw new Refusal('--seconds: a whole number');
  const options = { all: values.all === true, limit, seconds };
  try {
    if ('show' in command) return say(await command.show(operator, words, options), values);
    const signed = signedBy(values);
    return await change(await command.plan(operator, words, options), signed, values);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const { code, message } = error;
    if (values.json === true) console.log(JSON.stringify({ error: { code, message } }, null, 2));
    else console.error(`${code}: ${message}`);
    return 1;
  }
};
