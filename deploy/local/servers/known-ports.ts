import { readFileSync } from 'node:fs';
import { writeAtomically } from '../processes/atomic-file.ts';

type Ports = Record<string, number>;

const read = (file: string): Ports => {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Ports;
  } catch {
    // The first start.
    return {};
  }
};

/**
 * The ports of the last start with the same state. A start takes them again, because addresses of a
 * stack are in files of its users: `.env`, sign-ins of the command line, links to receipts.
 */
export const createKnownPorts = (file: string) => {
  const last = read(file);
  const chosen: Ports = {};
  const counts = new Map<number, number>();
  return {
    /**
     * The last port of the same purpose, or else the preferred one. If it is taken, the next free
     * one.
     * @param find finds the first free port from a given one on
     */
    choose: async (preferred: number, find: (from: number) => Promise<number>): Promise<number> => {
      const count = (counts.get(preferred) ?? 0) + 1;
      counts.set(preferred, count);
      const name = `${preferred}#${count}`;
      const port = await find(last[name] ?? preferred);
      chosen[name] = port;
      // With the ports of parts that do not start this time.
      writeAtomically(file, `${JSON.stringify({ ...last, ...chosen }, null, 2)}\n`);
      return port;
    },
    /** The port of the last start that is another one now, because it was taken. */
    moved: (preferred: number): { from: number; to: number } | null => {
      const name = `${preferred}#1`;
      const [from, to] = [last[name] ?? preferred, chosen[name]];
      return to === undefined || to === from ? null : { from, to };
    },
  };
};
