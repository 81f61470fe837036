import { createClientLog } from '../client-log.ts';
import type { Fault, Fixture } from '../fault.ts';
import { processNames } from '../harness.ts';
import { chainFaults } from './chain.ts';
import { clocks } from './clocks.ts';
import { crashes, kills } from './kill.ts';
import { messageFaults } from './messages.ts';
import { ownerFaults } from './owner.ts';
import { rolling } from './rolling.ts';
import { rpcFaults } from './rpc.ts';
import { pauses, serverFaults } from './servers.ts';

/** Every fault that a campaign can choose from. */
export const allFaults = (fixture: Fixture): Fault[] => {
  const { harness, clientLog } = fixture;
  return [
    ...kills(harness),
    ...crashes(harness),
    ...pauses(harness),
    ...clocks(harness),
    ...serverFaults(harness),
    ...messageFaults(harness),
    ...rpcFaults(harness),
    ...chainFaults(harness, clientLog),
    ...ownerFaults(fixture),
    rolling(fixture),
  ];
};

/** The names of all faults, without a stack. */
export const faultNames = (): string[] => {
  const nobody = {
    harness: { names: processNames(), failpointFolder: '' },
    clientLog: createClientLog(),
    breaks: [],
  };
  return allFaults(nobody as unknown as Fixture).map(({ name }) => name);
};

/**
 * The faults whose name is, or begins with, one of the given: `kill`, `crash-before`, `nats-wipe`.
 * Without names all of them.
 */
export const chooseFaults = (all: readonly Fault[], wanted: readonly string[]): Fault[] => {
  const meant =
    (want: string) =>
    ({ name }: Fault) =>
      name === want || name.startsWith(`${want}-`);
  const unknown = wanted.filter((want) => !all.some(meant(want)));
  if (unknown.length > 0) throw new Error(`there is no fault ${unknown.join(', ')}`);
  return wanted.length === 0 ? [...all] : all.filter((fault) => wanted.some((want) => meant(want)(fault)));
};
