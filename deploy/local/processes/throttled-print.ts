const EVERY_MS = 5000;

/** Equal for lines of one process that differ only in times, pids and ids. */
const kindOf = (line: string): string => {
  const name = /^\[[^\]]+\]|^\S+/.exec(line)?.[0] ?? '';
  return name + line.slice(name.length).replace(/[0-9a-f]*\d[0-9a-f]*/g, '#');
};

/**
 * Prints lines of a process that differ only in times, pids and ids at most once in 5 s, because a
 * probe may fail a hundred times for one reason. The next one says how many were not printed.
 */
export const throttledPrint = (
  print: (line: string) => void,
  now: () => number = Date.now,
): ((line: string) => void) => {
  const printed = new Map<string, { at: number; held: number }>();
  return (line) => {
    const kind = kindOf(line);
    const last = printed.get(kind);
    if (last !== undefined && now() - last.at < EVERY_MS) {
      last.held += 1;
      return;
    }
    printed.set(kind, { at: now(), held: 0 });
    print(last === undefined || last.held === 0 ? line : `${line} (and ${last.held} more like it before)`);
  };
};
