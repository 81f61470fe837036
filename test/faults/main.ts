// `npm run prove -- faults`: breaks a stack of its own for a while and proves that no payment was
// lost and none made twice.
import { randomInt } from 'node:crypto';
import path from 'node:path';
import { flag, readCommandLine, text, whole } from '../../deploy/local/processes/command-line.ts';
import { installInterop } from '../support/others/interop.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { TRAFFIC_NAMES, type TrafficName } from './break.ts';
import { type Options, runCampaign } from './campaign.ts';
import { faultNames } from './faults/index.ts';
import { gateTraffic } from './gate/traffic.ts';
import { mutations } from './mutations/mutations.ts';
import { outgoingTraffic } from './outgoing/traffic.ts';
import { ownTraffic } from './own/traffic.ts';
import { paywallTraffic } from './paywall/traffic.ts';
import { keepRecord, readRecords, sumLines } from './record.ts';
import { reportLines, totalsOf } from './report.ts';
import { HANDLINGS, runRestores } from './restores/campaign.ts';
import { pgBackRest } from './restores/pgbackrest.ts';
import { createRng } from './rng.ts';
import { tabTraffic } from './tabs/traffic.ts';
import type { Traffic } from './traffic.ts';
import { x402Traffic } from './x402/traffic.ts';

const print = (line: string): void => console.log(line);

const { values } = readCommandLine({
  typed: 'npm run prove -- faults',
  about: 'Breaks a stack of its own for a while and proves that no payment was lost and none made twice.',
  options: {
    traffic: text(
      'LIST',
      "only these kinds of payments: own are payments to our vendors by our clients, x402 by the clients of others, outgoing are those to vendors of others, paywall those to a vendor with the SDK's paywall, in every dialect, tabs are authorizations that are used and captured. Gate are purchases through gates, which are killed themselves: alone",
      TRAFFIC_NAMES.filter((name) => name !== 'gate').join(','),
    ),
    seconds: whole('N', 'the faults last at least so long', 60),
    payments: whole('N', 'and until so many of each kind have begun, and half as many have succeeded', 30),
    faults: text('LIST', 'only these, or all with this prefix, like kill,crash-before,nats-wipe', ''),
    seed: whole('N', 'repeats a schedule; without it there is a new one, which is printed'),
    rate: whole('N', 'own payments that begin per second, and three times as many as of the other kinds', 15),
    gates: whole('N', 'gates of the traffic gate, each with buyers of its own', 4),
    attackers: whole('N', 'attackers of that traffic', 12),
    uses: whole('N', 'uses of each tab, about', 20),
    'slot-ms': whole('N', 'slot time of the chain', 100),
    'pause-ms': whole(
      'N',
      'the longest pause between two faults: a longer one gives more payments for each fault',
      500,
    ),
    replicas: whole(
      'N',
      'processes of each service; without it two of gateway, settlement and chain-submitter, and one of the others',
    ),
    versions: flag(
      'instead of faults: an upgrade process by process, the way back and forward again, over the next two versions of this tree',
    ),
    restores: whole(
      'N',
      'instead of faults: so many restores of the database to a moment in the middle of payments, after each of which another part of what an operator has to do is forgotten',
    ),
    pgbackrest: text('FILE', 'restores: by this program (2.56 or later) instead of what Postgres itself has'),
    mutate: text('NAME', 'switches this rule off: it must break the campaign. "all": one at a time'),
    sum: flag('adds up the figures of all runs so far'),
    list: flag('lists the faults'),
  },
});
const wanted = values.traffic.split(',');
const names = TRAFFIC_NAMES.filter((name) => wanted.includes(name));
if (names.length < wanted.length) throw new Error(`the kinds of traffic are ${TRAFFIC_NAMES.join(', ')}`);
if (values.versions && !names.includes('own')) throw new Error('--versions needs the traffic own');
if (names.includes('gate') && names.length > 1) throw new Error('the traffic gate runs alone');
if (values.list) {
  for (const name of faultNames(names)) print(name);
  process.exit(0);
}
if (values.sum) {
  for (const line of sumLines(readRecords())) print(line);
  process.exit(0);
}
const seed = values.seed ?? randomInt(1, 2 ** 31);
/** The recovery of a mutant never ends, so a short wait suffices. */
const MUTANT_TERMINAL_MS = 30_000;
const { payments: least, rate } = values;
const options: Omit<Options, 'stateDir' | 'traffic'> = {
  seed,
  faults: values.versions ? ['two-versions'] : values.faults.split(',').filter((name) => name !== ''),
  seconds: values.versions ? 0 : values.seconds,
  versions: values.versions ? 'whole' : undefined,
  everyFault: values.versions,
  leastPayments: { own: least, x402: least, outgoing: least, paywall: least, tabs: least, gate: least },
  slotMs: values['slot-ms'],
  pauseMs: values['pause-ms'],
  ...(values.replicas === undefined ? {} : { replicas: values.replicas }),
  print,
};

const otherRate = Math.ceil(rate / 3);
const expected = Math.max(options.seconds * otherRate, least);
const trafficOf: Record<TrafficName, () => Traffic> = {
  own: () => ownTraffic({ perSecond: rate }),
  x402: () => x402Traffic({ perSecond: otherRate, purchases: expected }),
  outgoing: () => outgoingTraffic({ perSecond: otherRate, payments: expected }),
  paywall: () => paywallTraffic({ perSecond: otherRate, purchases: expected }),
  tabs: () => tabTraffic({ perSecond: otherRate, uses: values.uses }),
  gate: () => gateTraffic({ lanes: values.gates, attackers: values.attackers }),
};

/** Restores of the database. True when nothing was paid twice or denied. */
const restore = async (restores: number, pgbackrest: string | undefined): Promise<boolean> => {
  const rng = createRng(seed);
  const report = await runRestores({
    seed,
    stateDir: testStateDir('restores'),
    handlings: Array.from({ length: restores }, (_, index) =>
      index < HANDLINGS.length ? HANDLINGS[index]! : rng.pick(HANDLINGS),
    ),
    ...(pgbackrest !== undefined && { tool: pgBackRest(pgbackrest) }),
    print,
  });
  const { attempts, lost, doubled, untrue, invented, open } = report;
  print(
    `${report.restores} restores, ${attempts} attempts, ${lost} settlements lost by the restores; paid twice: ${doubled.length}, denied although paid: ${untrue.length}, called paid without a payment: ${invented.length}, without an end: ${open.length}`,
  );
  for (const name of [...doubled, ...untrue, ...invented, ...open]) print(name);
  print(`seed ${seed} repeats this`);
  return [doubled, untrue, invented, open].every((list) => list.length === 0);
};

/** One campaign over the unchanged product. */
const prove = async (): Promise<boolean> => {
  const stateDir = testStateDir('faults');
  print(`seed ${seed}, state and logs in ${path.relative(process.cwd(), stateDir)}`);
  const report = await runCampaign({ ...options, stateDir, traffic: names.map((name) => trafficOf[name]()) });
  keepRecord({ command: process.argv.slice(2).join(' '), seed, report });
  for (const line of reportLines(report)) print(line);
  print(`seed ${seed} repeats this schedule`);
  return report.breaks.length === 0;
};

/** A campaign for each rule that is switched off. True when all of them broke. */
const mutate = async (name: string): Promise<boolean> => {
  const chosen = mutations.filter((mutation) => name === 'all' || mutation.name === name);
  if (chosen.length === 0)
    throw new Error(`the mutations are ${mutations.map((mutation) => mutation.name).join(', ')}`);
  let caught = 0;
  print('| Rule switched off | Rule | Traffic | Faults | Paid | Invariants that broke |');
  print('| --- | --- | --- | --- | --- | --- |');
  for (const mutation of chosen) {
    const { faults, rule, traffic = 'own' } = mutation;
    const report = await runCampaign({
      ...options,
      faults,
      mutation,
      traffic: [trafficOf[traffic]()],
      terminalMs: MUTANT_TERMINAL_MS,
      stateDir: testStateDir('faults'),
      print: () => {},
    });
    const found = [...new Set(report.breaks.map(({ invariant }) => invariant))].filter(
      (invariant) => invariant !== 'somebody-paid',
    );
    const isCaught = mutation.breaks === undefined ? found.length > 0 : found.includes(mutation.breaks);
    if (isCaught) caught += 1;
    const listed = found.map((invariant) => `\`${invariant}\``);
    const broke = [
      ...listed,
      ...(isCaught ? [] : [`NOT CAUGHT${mutation.breaks ? ` by \`${mutation.breaks}\`` : ''}`]),
    ].join(', ');
    const { paid } = totalsOf(report);
    print(`| ${mutation.name} | ${rule} | ${traffic} | ${faults.join(', ')} | ${paid} | ${broke} |`);
  }
  return caught === chosen.length;
};

if (names.includes('outgoing') || values.mutate !== undefined) await installInterop('x402');
if (values.restores !== undefined) process.exit((await restore(values.restores, values.pgbackrest)) ? 0 : 1);
const good = values.mutate === undefined ? await prove() : await mutate(values.mutate);
process.exit(good ? 0 : 1);
