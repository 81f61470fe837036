import { closeSync, fstatSync, mkdirSync, openSync, readSync, renameSync } from 'node:fs';
import path from 'node:path';

const pollMilliseconds = 400;
const linesPerPoll = 8;
const bytesPerPoll = 256 * 1024;

/** Serious lines of any of our processes: pino's error and fatal, and the servers' own words for it. */
const serious = /"level":(50|60)\b|\[(ERR|FTL)\]|\b(PANIC|FATAL):|^\s*(Fatal error|panicked at)/;

/** Postgres calls these fatal, but they only tell a client to come back. */
const harmless = /the database system is (starting up|shutting down)|due to administrator command/;

/** The last lines of a process in a test or on the console, and how to see all of them. */
export type ProcessLog = {
  file: string;
  /** For the child's standard output and error; the file, not a pipe: a busy supervisor slows nobody. */
  descriptor: number;
  /** What was written since the last call of `mark`, at most `count` lines, newest last. */
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
    // The first start has none.
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

/** Prints serious lines of all logs as they appear, a few at a time; returns how to stop that. */
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

/** The part of an output that tells why its process ended: from the error on, without the code around it. */
export function errorLines(output: readonly string[], count: number): string[] {
  const error = output.findLastIndex((line) =>
    /^(Uncaught )?\w*Error\b|^config: |"level":(50|60)\b/.test(line),
  );
  return error < 0 ? output.slice(-count) : output.slice(error, error + count);
}

/** A pino line as a person would write it; other lines as they are. */
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
