import type { TrafficName } from '../break.ts';
import type { Fault, Fixture } from '../fault.ts';
import { type Harness, processNames } from '../harness.ts';
import { twoVersions } from '../versions/two-versions.ts';
import { chainFaults } from './chain.ts';
import { clocks } from './clocks.ts';
import { EMPTIED_SOURCES } from './emptied-source.ts';
import { crashes, kills } from './kill.ts';
import { messageFaults } from './messages.ts';
import { ownerFaults } from './owner.ts';
import { rolling } from './rolling.ts';
import { rpcFaults } from './rpc.ts';
import { pauses, serverFaults } from './servers.ts';

/**
 * Faults that do not concern a kind of traffic: of services and servers that it does not use, and
 * of failpoints that it does not pass. Only jobs pass those of intents, and only the counterparty
 * of an outgoing payment can send its bytes.
 */
const UNUSED: Record<TrafficName, RegExp> = {
  own: /^crash-.*-(gateway\.|settlement\.(beforeCapture|afterCapture|beforeVoid))/,
  paywall: /^crash-.*-((gateway|funding)\.|settlement\.(beforeCapture|afterCapture|beforeVoid))/,
  // The services that a purchase needs. All other faults concern the SDK's paywall too.
  gate: /^(?!kill-(gateway|settlement|chain-submitter|webhook))/,
  tabs: /^(clock|crash-.*-(gateway|funding)\.|crash-.*-settlement\.beforeHandOut)/,
  x402: /^(clock|kill-(wallet|funding|webhook)|redis|crash-.*-(funding\.|settlement\.(beforeCapture|afterCapture|beforeVoid)|submitter\.(beforeIntent|afterIntent)))/,
  outgoing:
    /^(clock|kill-(quote|wallet|funding|webhook)|redis|inclusion-one-slot|crash-.*-(gateway\.|funding\.|settlement\.(beforeCapture|afterCapture|beforeVoid)|submitter\.(beforeIntent|afterIntent)))/,
};

/**
 * Every fault of the stack that concerns one of these kinds of traffic.
 * @param redeemed the transactions of delivered payments, in the order of their delivery
 */
export const faultsOf = (
  harness: Harness,
  redeemed: readonly string[],
  traffic: readonly TrafficName[],
): Fault[] =>
  [
    ...kills(harness),
    ...crashes(harness),
    ...pauses(harness),
    ...clocks(harness),
    ...serverFaults(harness),
    ...messageFaults(harness),
    ...rpcFaults(harness),
    ...chainFaults(harness, redeemed),
  ].filter(({ name }) => traffic.some((kind) => !UNUSED[kind].test(name)));

/** The faults that need the clients of our own payments. */
export const ownFaults = (fixture: Fixture): Fault[] => [
  ...ownerFaults(fixture),
  rolling(fixture),
  ...twoVersions(fixture),
];

/** The names of all faults of these kinds of traffic, without a stack. */
export const faultNames = (traffic: readonly TrafficName[]): string[] => {
  const harness = { names: processNames(), failpointFolder: '' } as unknown as Harness;
  const own = traffic.includes('own') ? ownFaults({ harness } as Fixture) : [];
  const emptied = traffic.flatMap((kind) => EMPTIED_SOURCES[kind] ?? []);
  return [...[...faultsOf(harness, [], traffic), ...own].map(({ name }) => name), ...emptied];
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
