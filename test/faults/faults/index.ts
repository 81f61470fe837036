import type { Fault } from '../fault.ts';
import type { Break } from '../invariants.ts';
import { createLedger, type Ledger } from '../ledger.ts';
import { processNames, type World } from '../world.ts';
import { chainFaults, rpcFaults } from './chain.ts';
import { crashes, kills } from './kill.ts';
import { rolling } from './rolling.ts';
import { pauses, serverFaults } from './servers.ts';

/** Every fault that a campaign can choose from; what they themselves see break goes into `breaks`. */
export const allFaults = (world: World, ledger: Ledger, breaks: Break[]): Fault[] => [
  ...kills(world),
  ...crashes(world),
  ...pauses(world),
  ...serverFaults(world),
  ...rpcFaults(world),
  ...chainFaults(world, ledger),
  rolling(world, ledger, breaks),
];

/** Their names, without a stack to try them on. */
export const faultNames = (): string[] => {
  const nobody = { names: processNames, failpointFolder: '' } as unknown as World;
  return allFaults(nobody, createLedger(), []).map(({ name }) => name);
};

/** Those whose name is, or begins with, one of the given: `kill`, `crash-before`, `nats-wipe`. None given: all. */
export const chooseFaults = (all: readonly Fault[], wanted: readonly string[]): Fault[] => {
  const meant =
    (want: string) =>
    ({ name }: Fault) =>
      name === want || name.startsWith(`${want}-`);
  const unknown = wanted.filter((want) => !all.some(meant(want)));
  if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`);
  return wanted.length === 0 ? [...all] : all.filter((fault) => wanted.some((want) => meant(want)(fault)));
};
