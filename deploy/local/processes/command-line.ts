import { type ParseArgsConfig, parseArgs } from 'node:util';

/** EX_USAGE of sysexits.h. */
const USAGE_ERROR = 64;

/** Prints why a command cannot run and ends the process with 64. */
export const refuse = (message: string): never => {
  console.error(message);
  process.exit(USAGE_ERROR);
};

/**
 * The arguments of a command, as `parseArgs` returns them. `--help` prints the usage and exits. An
 * unknown argument is named above the usage, and the process ends with 64.
 */
export const readCommandLine = <const T extends ParseArgsConfig>(
  usage: string,
  config: T,
): ReturnType<typeof parseArgs<T>> => {
  if (process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return parseArgs(config);
  } catch (error) {
    return refuse(`${(error as Error).message}\n\n${usage}`);
  }
};

/**
 * The value of an option as a whole number of 0 or more. Anything else ends the process with 64.
 */
export const wholeNumber = (name: string, text: string): number =>
  /^\d{1,15}$/.test(text) ? Number(text) : refuse(`--${name} must be a whole number, not "${text}"`);
