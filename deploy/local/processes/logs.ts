import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs';
import path from 'node:path';

const pollMilliseconds = 400;
const linesPerPoll = 8;
const bytesPerPoll = 256 * 1024;

/** Serious lines of any process: pino's error and fatal, and the formats of the servers. */
const serious = /"level":(50|60)\b|\[(ERR|FTL)\]|\b(PANIC|FATAL):|^\s*(Fatal error|panicked at)/;

/**
 * Postgres logs these as fatal, but they only make a client reconnect. That its first process has
 * ended is printed once, by the supervisor.
 */
const harmless =
  /the database system is (starting up|shutting down|not yet accepting connections)|due to (administrator command|unexpected postmaster exit)/;

/** The log of a process and its file. */
export type ProcessLog = {
  file: string;
  /**
   * The file for the child's output. It is not a pipe, so a busy supervisor does not slow the child
   * down.
   */
  descriptor: number;
  /** The lines since the last call of `mark`, at most `count`, newest last. */
  lastLines: (count: number) => string[];
  mark: () => void;
  /** Serious lines written since the last call. */
  seriousLines: () => string[];
  close: () => void;
};

/** Opens `<directory>/<name>.log`, keeping the previous one as `.log.1`. */
export function openLog(directory: string, name: string): ProcessLog {
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, `${name}.log`);
  try {
    renameSync(file, `${file}.1`);
  } catch {
    // There is no previous log at the first start.
  }
  const descriptor = openSync(file, 'a+', 0o640);
  let marked = 0;
  let polled = 0;

  const read = (from: number, to: number): string => {
    const buffer = Buffer.alloc(Math.max(0, to - from));
    return buffer.toString('utf8', 0, readSync(descriptor, buffer, 0, buffer.length, from));
  };
  const size = (): number => fstatSync(descriptor).size;

  return {
    file,
    descriptor,
    mark: () => {
      marked = size();
    },
    lastLines: (count) => {
      const end = size();
      return lines(read(Math.max(marked, end - bytesPerPoll), end)).slice(-count);
    },
    seriousLines: () => {
      const end = size();
      if (end === polled) return [];
      const text = read(Math.max(polled, end - bytesPerPoll), end);
      const complete = text.lastIndexOf('\n') + 1;
      polled = end - Buffer.byteLength(text.slice(complete));
      return lines(text.slice(0, complete)).filter((line) => serious.test(line) && !harmless.test(line));
    },
    close: () => closeSync(descriptor),
  };
}

/**
 * Prints new serious lines of all logs, a few at a time.
 * @returns a function that stops it
 */
export function followLogs(logs: Map<string, ProcessLog>, print: (line: string) => void): () => void {
  const timer = setInterval(() => {
    for (const [name, log] of logs) {
      const found = log.seriousLines();
      for (const line of found.slice(0, linesPerPoll)) print(`[${name}] ${readable(line)}`);
      if (found.length > linesPerPoll)
        print(`[${name}] … ${found.length - linesPerPoll} more in ${log.file}`);
    }
  }, pollMilliseconds);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The part of an output that explains why its process ended: the error and what follows, without
 * the quoted code.
 */
export function errorLines(output: readonly string[], count: number): string[] {
  const error = output.findLastIndex((line) =>
    /^(Uncaught )?\w*Error\b|^config: |"level":(50|60)\b/.test(line),
  );
  return error < 0 ? output.slice(-count) : output.slice(error, error + count);
}

/** The message of a pino line. Other lines are returned unchanged. */
export function readable(line: string): string {
  try {
    const { msg, err } = JSON.parse(line) as { msg?: string; err?: { message?: string } };
    const text = [msg, err?.message]
      .filter((part, index, all) => part && all.indexOf(part) === index)
      .join(': ');
    return text || line;
  } catch {
    return line;
  }
}

function lines(text: string): string[] {
  return text.split('\n').filter((line) => line.trim() !== '');
}
