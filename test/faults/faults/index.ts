import { bodyOf, type ClientLog, createClientLog } from '../client-log.ts';
import type { Fault, Fixture } from '../fault.ts';
import { type Harness, processNames } from '../harness.ts';
import { chainFaults, type Redeemed } from './chain.ts';
import { clocks } from './clocks.ts';
import { crashes, kills } from './kill.ts';
import { messageFaults } from './messages.ts';
import { ownerFaults } from './owner.ts';
import { rolling } from './rolling.ts';
import { rpcFaults } from './rpc.ts';
import { pauses, serverFaults } from './servers.ts';

const redeemedIn = (clientLog: ClientLog): Redeemed => ({
  count: () => clientLog.redeemed.length,
  newestHash: () => {
    const answers = clientLog.redeemed.at(-1)?.answers ?? [];
    return answers.map((answer) => bodyOf(answer).tx_hash).findLast(Boolean) ?? null;
  },
});

/** Every fault that a campaign can choose from. */
export const allFaults = (fixture: Fixture): Fault[] => {
  const { harness, clientLog } = fixture;
  return [
    ...kills(harness),
    ...crashes(harness, (point) => !point.startsWith('gateway.')),
    ...pauses(harness),
    ...clocks(harness),
    ...serverFaults(harness),
    ...messageFaults(harness),
    ...rpcFaults(harness),
    ...chainFaults(harness, redeemedIn(clientLog)),
    ...ownerFaults(fixture),
    rolling(fixture),
  ];
};

/** Failpoints that only jobs pass. A payment of another protocol has none. */
const OF_JOBS = ['submitter.beforeIntent', 'submitter.afterIntent'];
/** Faults of services and servers that a payment of x402 does not use. */
const UNUSED = /^(kill-(quote|wallet|funding|webhook)|redis)/;

/** Every fault that the campaign of x402 can choose from. */
export const x402Faults = (harness: Harness, redeemed: Redeemed): Fault[] =>
  [
    ...kills(harness),
    ...crashes(harness, (point) => !OF_JOBS.includes(point)),
    ...pauses(harness),
    ...serverFaults(harness),
    ...messageFaults(harness),
    ...rpcFaults(harness),
    ...chainFaults(harness, redeemed),
  ].filter(({ name }) => !UNUSED.test(name));

/**
 * Faults that do not concern outgoing payments. Only their counterparty can send their bytes, and
 * `sends-late` does so shortly before they expire.
 */
const NOT_OUTGOING =
  /^(kill-(quote|wallet|funding|webhook)|redis|inclusion-one-slot|crash-.*-(gateway\.|submitter\.(beforeIntent|afterIntent)))/;

/** Every fault that the campaign of outgoing payments can choose from. */
export const outgoingFaults = (harness: Harness, confirmed: Redeemed): Fault[] =>
  [
    ...kills(harness),
    ...crashes(harness, () => true),
    ...pauses(harness),
    ...serverFaults(harness),
    ...messageFaults(harness),
    ...rpcFaults(harness),
    ...chainFaults(harness, confirmed),
  ].filter(({ name }) => !NOT_OUTGOING.test(name));

const named = { names: processNames(), failpointFolder: '' };

/** The names of all faults, without a stack. */
export const faultNames = (): string[] => {
  const nobody = { harness: named, clientLog: createClientLog(), breaks: [] };
  return allFaults(nobody as unknown as Fixture).map(({ name }) => name);
};

const nothing: Redeemed = { count: () => 0, newestHash: () => null };
/** The names of the faults of x402, without a stack. */
export const x402FaultNames = (): string[] =>
  x402Faults(named as unknown as Harness, nothing).map(({ name }) => name);
/** The names of the faults of outgoing payments, without a stack. */
export const outgoingFaultNames = (): string[] =>
  outgoingFaults(named as unknown as Harness, nothing).map(({ name }) => name);

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
