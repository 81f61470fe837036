import { CommanderError } from 'commander';
import { InterruptedError } from './errors.ts';
import { failureLines, failureOf } from './failure.ts';
import { type Io, styled } from './io.ts';
import { createProgram, FIRST_MINUTE } from './program.ts';
import { EXIT_CODES, exitCodeOf } from './text/exit-codes.ts';
import { plain } from './text/text.ts';

/**
 * The error of commander in one line and without its own prefix, as the other errors are shown: a
 * line break in an error is replaced, because an argument may have put it there.
 */
const asError = (error: unknown): unknown => {
  if (!(error instanceof CommanderError)) return error;
  error.message = error.message
    .replace(/^error: /, '')
    .replace(/\n(?=\(Did you mean )/, ' ')
    .trim();
  return Object.assign(error, { next: 'See `quittance --help`.' });
};

const showFailure = (io: Io, error: unknown, isJson: boolean): void => {
  const failure = failureOf(asError(error));
  if (isJson) {
    io.err(`${JSON.stringify({ error: failure }, null, 2)}\n`);
    return;
  }
  const [first = '', ...more] = failureLines(failure).map(plain);
  io.err(`${[styled(io, 'red', first), ...more].join('\n')}\n`);
};

/** Runs one command line. Returns its exit code and prints any error. */
export const run = async (args: readonly string[], io: Io): Promise<number> => {
  try {
    if (args.length === 0) {
      io.out(FIRST_MINUTE);
      return 0;
    }
    await createProgram(io).parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (io.signal.aborted && !(error instanceof InterruptedError)) return EXIT_CODES.interrupted[0];
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    // `quittance services` without a subcommand has printed its help.
    if (error instanceof CommanderError && error.code === 'commander.help') return exitCodeOf(error);
    showFailure(io, error, args.includes('--json'));
    return exitCodeOf(error);
  }
};
