import type { Fault } from '../fault.ts';
import type { World } from '../world.ts';
import { crashes, kills } from './kill.ts';

/** Every fault that a campaign can choose from. */
export const allFaults = (world: World): Fault[] => [...kills(world), ...crashes(world)];

/** Those whose name is, or begins with, one of the given: `kill`, `crash-before`, `nats-wipe`. */
export const chooseFaults = (all: readonly Fault[], wanted: readonly string[]): Fault[] => {
  const chosen = all.filter(({ name }) =>
    wanted.some((want) => name === want || name.startsWith(`${want}-`)),
  );
  const unknown = wanted.filter(
    (want) => !all.some(({ name }) => name === want || name.startsWith(`${want}-`)),
  );
  if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`);
  return wanted.length === 0 ? [...all] : chosen;
};
