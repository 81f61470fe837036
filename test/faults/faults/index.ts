import type { Fault, Scene } from '../fault.ts';
import { createLedger } from '../ledger.ts';
import { processNames } from '../world.ts';
import { chainFaults } from './chain.ts';
import { clocks } from './clocks.ts';
import { crashes, kills } from './kill.ts';
import { messageFaults } from './messages.ts';
import { ownerFaults } from './owner.ts';
import { rolling } from './rolling.ts';
import { rpcFaults } from './rpc.ts';
import { pauses, serverFaults } from './servers.ts';

/** Every fault that a campaign can choose from. */
export const allFaults = (scene: Scene): Fault[] => {
  const { world, ledger } = scene;
  return [
    ...kills(world),
    ...crashes(world),
    ...pauses(world),
    ...clocks(world),
    ...serverFaults(world),
    ...messageFaults(world),
    ...rpcFaults(world),
    ...chainFaults(world, ledger),
    ...ownerFaults(scene),
    rolling(scene),
  ];
};

/** Their names, without a stack to try them on. */
export const faultNames = (): string[] => {
  const nobody = {
    world: { names: processNames(), failpointFolder: '' },
    ledger: createLedger(),
    breaks: [],
  };
  return allFaults(nobody as unknown as Scene).map(({ name }) => name);
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
