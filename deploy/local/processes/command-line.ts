import { type ParseArgsConfig, parseArgs } from 'node:util';

/** EX_USAGE of sysexits.h. */
const USAGE_ERROR = 64;

/** Says why a command cannot be carried out as it stands, and ends the process with 64. */
export const refuse = (message: string): never => {
  console.error(message);
  process.exit(USAGE_ERROR);
};

/**
 * What a command was given, as `parseArgs` reads it. `--help` prints the usage and nothing is done; a word that is not
 * known is named above the usage, and the process ends with 64.
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

/** The value of an option as a whole number of 0 or more; ends the process with 64 where it is none. */
export const wholeNumber = (name: string, text: string): number =>
  /^\d{1,15}$/.test(text) ? Number(text) : refuse(`--${name}: a whole number, not "${text}"`);
