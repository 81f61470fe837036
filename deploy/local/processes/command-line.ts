import { parseArgs } from 'node:util';

/** EX_USAGE of sysexits.h. */
const USAGE_ERROR = 64;

/** Prints why a command cannot run and ends the process with 64. */
export function refuse(message: string): never {
  console.error(message);
  process.exit(USAGE_ERROR);
}

/** An option of a command: how its text is read, and its line of help. */
type Option<T> = {
  type: 'boolean' | 'string';
  multiple?: true;
  /** What stands for its value in the help. */
  shown: string;
  about: string;
  otherwise: T;
  /** @throws Error that says what the value must be */
  read: (text: string) => T;
};

/** An option without a value. */
export const flag = (about: string): Option<boolean> => ({
  type: 'boolean',
  shown: '',
  about,
  otherwise: false,
  read: () => true,
});

/** Makes the kind of option whose value `read` reads. Without a default it may be absent. */
const kindOf =
  <V>(read: (text: string) => V) =>
  <const D extends V | undefined = undefined>(
    shown: string,
    about: string,
    otherwise?: D,
  ): Option<D extends undefined ? V | undefined : V> =>
    ({ type: 'string', shown, about, otherwise, read }) as Option<D extends undefined ? V | undefined : V>;

const readWhole = (text: string): number => {
  if (!/^\d{1,15}$/.test(text)) throw new Error('a whole number');
  return Number(text);
};

export const text = kindOf((value: string): string => value);
/** A whole number of 0 or more. */
export const whole = kindOf<number>(readWhole);
/** Whole numbers with commas between them. */
export const wholes = kindOf<readonly number[]>((value) => value.split(',').map(readWhole));
/** A number above 0. */
export const positive = kindOf<number>((value) => {
  const number = Number(value);
  if (!(number > 0)) throw new Error('a number above 0');
  return number;
});
/** An option that may be given several times. */
export const texts = (shown: string, about: string): Option<readonly string[]> => ({
  type: 'string',
  multiple: true,
  shown,
  about,
  otherwise: [],
  read: (value) => [value],
});

// biome-ignore lint/suspicious/noExplicitAny: the kinds of values differ.
type Options = Record<string, Option<any>>;

type CommandLine<T extends Options> = {
  /** What a person types: `npm run prove -- faults`. */
  typed: string;
  /** The arguments besides options, as the usage shows them. Without it there are none. */
  words?: string;
  about: string;
  options: T;
  /** Below the options. */
  notes?: string;
};
type Values<T extends Options> = { [N in keyof T]: T[N] extends Option<infer V> ? V : never };

/** The widest line of a help. */
const WIDTH = 110;

const folded = (line: string, width: number): string[] =>
  line.split(' ').reduce<string[]>((lines, word) => {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
    return lines;
  }, []);

const usageOf = <T extends Options>({ typed, words, about, options, notes }: CommandLine<T>): string => {
  const rows: [string, string][] = [...Object.entries(options), ['help', flag('this text')] as const].map(
    ([name, { shown, about, otherwise }]) => [
      `--${name} ${shown}`.trimEnd(),
      otherwise === undefined || otherwise === false || `${otherwise}` === ''
        ? about
        : `${about} (default: ${otherwise})`,
    ],
  );
  const column = Math.max(...rows.map(([name]) => name.length)) + 2;
  const lines = rows.flatMap(([name, text]) =>
    folded(text, WIDTH - column - 2).map((line, at) => `  ${(at === 0 ? name : '').padEnd(column)}${line}`),
  );
  const separator = typed.startsWith('npm ') && !typed.includes(' -- ') ? ' --' : '';
  return [
    `Usage: ${typed}${separator}${words === undefined ? '' : ` ${words}`} [options]`,
    about,
    lines.join('\n'),
    ...(notes === undefined ? [] : [notes]),
  ].join('\n\n');
};

/**
 * The arguments of a command: the value of each option, or its default, and the words besides.
 * `--help` prints the help and exits. A wrong argument is named above the help, and the process
 * ends with 64.
 */
export const readCommandLine = <const T extends Options>(
  line: CommandLine<T>,
): { values: Values<T>; words: string[]; usage: string } => {
  const usage = usageOf(line);
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    const given = parseArgs({
      options: Object.fromEntries(
        Object.entries(line.options).map(([name, { type, multiple = false }]) => [name, { type, multiple }]),
      ),
      allowPositionals: line.words !== undefined,
    });
    const values = Object.entries(line.options).map(([name, option]) => [
      name,
      readValue(name, option, given.values[name]),
    ]);
    return { values: Object.fromEntries(values) as Values<T>, words: given.positionals, usage };
  } catch (error) {
    return refuse(`${(error as Error).message}\n\n${usage}`);
  }
};

const readValue = <T>(
  name: string,
  { otherwise, read }: Option<T>,
  given: string | boolean | (string | boolean)[] | undefined,
): T => {
  if (given === undefined) return otherwise;
  if (Array.isArray(given)) return given as T;
  try {
    return read(String(given));
  } catch (error) {
    throw new Error(`--${name} must be ${(error as Error).message}, not "${given}"`);
  }
};
