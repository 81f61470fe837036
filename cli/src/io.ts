import { buffer } from 'node:stream/consumers';
import { styleText } from 'node:util';

/** What a command reads and writes. Tests replace it. */
export type Io = {
  env: Readonly<Record<string, string | undefined>>;
  /** All of standard input. */
  readInput: () => Promise<Buffer>;
  /** Standard output: the result only, so that it can be piped. */
  out: (content: string | Uint8Array) => void;
  /** Standard error: everything else. */
  err: (text: string) => void;
  /** Whether a person reads standard error on a terminal. */
  isTerminal: boolean;
  isColoured: boolean;
  /** Aborted by Ctrl-C. */
  signal: AbortSignal;
};

/** Colours are off without a terminal, and by NO_COLOR (no-color.org). */
const wantsColour = ({ NO_COLOR, TERM }: Io['env'], isTerminal: boolean): boolean =>
  isTerminal && TERM !== 'dumb' && (NO_COLOR === undefined || NO_COLOR === '');

/** The streams of this process. */
export const systemIo = (): Io => {
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      // The second Ctrl-C ends a command that does not stop.
      if (stopping.signal.aborted) process.exit(130);
      stopping.abort(new Error('interrupted'));
    });
  // The reader of a pipe, like `head`, may end first.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? 0 : 1);
  });
  const isTerminal = process.stderr.isTTY === true;
  return {
    env: process.env,
    readInput: () => buffer(process.stdin),
    out: (content) => void process.stdout.write(content),
    err: (text) => void process.stderr.write(text),
    isTerminal,
    isColoured: wantsColour(process.env, isTerminal),
    signal: stopping.signal,
  };
};

/** Emphasises a text for a person, if colours are on. */
export const styled = ({ isColoured }: Io, style: 'bold' | 'dim' | 'red' | 'green', text: string): string =>
  isColoured ? styleText(style, text, { validateStream: false }) : text;

/**
 * Runs `work` with a line that says what it waits for. The line is shown on a terminal only, and is
 * removed at the end.
 */
export const withProgress = async <T>(io: Io, text: string, work: () => Promise<T>): Promise<T> => {
  if (!io.isTerminal) return work();
  const startedAt = Date.now();
  const show = () => io.err(`\r\u001b[K${text} ${Math.round((Date.now() - startedAt) / 1000)} s`);
  show();
  const timer = setInterval(show, 1000);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    io.err('\r\u001b[K');
  }
};
