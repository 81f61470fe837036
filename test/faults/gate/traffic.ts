import path from 'node:path';
import type { Rng } from '../rng.ts';
import type { Traffic } from '../traffic.ts';
import { judgeAttacks } from './attack-invariants.ts';
import { attackLines } from './attack-report.ts';
import { attacksOf } from './attack-schedule.ts';
import { startAttackers } from './attackers.ts';
import { judgeGate } from './invariants.ts';
import { KINDS, type Point, STEPS } from './log.ts';
import { gateLines } from './report.ts';
import { buildGate, startGateRun } from './run.ts';

/** A campaign has more purchases than it can leave open until its end. */
const BATCH = 8;
/** More messages than a gate sends for one purchase. */
const MOST_MESSAGES = 14;
const KILLED = 0.9;

const pointOf = (rng: Rng): Point | null => {
  if (!rng.chance(KILLED)) return null;
  if (rng.chance(0.5))
    return { at: rng.int(0, MOST_MESSAGES), when: rng.pick(['before', 'after']), victim: 'gate' };
  return { at: rng.pick(STEPS), victim: rng.pick(['gate', 'upstream']) };
};

/**
 * Purchases through gates, of which the gate or the API behind it is killed at a moment of each
 * purchase. The gates have one store, and are started again.
 * Attackers beside them have two replicas of their own.
 * @param options `lanes`: gates, each with an API and buyers of its own. `most`: purchases
 */
export const gateTraffic = ({
  lanes = 4,
  attackers: attackersAtOnce = 12,
  most = Number.POSITIVE_INFINITY,
}: {
  lanes?: number;
  attackers?: number;
  most?: number;
} = {}): Traffic => ({
  name: 'gate',
  begin: async (harness) => {
    const command = harness.mutated('gate/src/program/quittance-gate.ts');
    const built = command ?? (await buildGate(path.resolve(harness.stateDir, 'gate')));
    const [run, attackers] = await Promise.all([
      startGateRun(harness, built, { lanes, batch: BATCH }),
      startAttackers(harness, built, attackersAtOnce),
    ]);
    const { purchases } = run.log;
    const { attacks } = attackers;
    const delivered = () =>
      purchases.filter(({ outcome }) => outcome === 'goods').length +
      attacks.filter(({ tries }) => tries.some(({ isWhole, status }) => isWhole && status === 200)).length;
    const begun = () => purchases.length + attacks.length;
    let isOver = false;
    return {
      about: `buyers of ${KINDS.join(', ')} at ${lanes} gates, ${attackersAtOnce} attackers at two replicas`,
      start: (rng) => {
        const next = (lane: number) => {
          const own = rng.fork(lane);
          return () =>
            isOver || purchases.length >= most ? null : { kind: own.pick(KINDS), point: pointOf(own) };
        };
        const working = Promise.all([
          run.start(next, () => isOver),
          attackers.start(
            (attacker) => attacksOf(rng.fork(-1 - attacker), () => isOver),
            () => isOver,
          ),
        ]);
        return {
          stop: async () => {
            isOver = true;
            await working;
          },
        };
      },
      counts: () => ({ tried: begun(), begun: begun(), paid: delivered() }),
      spans: () => [
        ...purchases.map(({ from, to, outcome }) => ({ from, to, isPaid: outcome === 'goods' })),
        ...attacks.map(({ from, to }) => ({ from, to, isPaid: true })),
      ],
      recover: async (deadline) => {
        await Promise.all([run.recover(deadline), attackers.recover(deadline)]);
      },
      evaluate: async () => {
        const [of, attacked] = await Promise.all([run.readCase(), attackers.readCase()]);
        return {
          breaks: [...judgeGate(of), ...judgeAttacks(attacked)],
          lines: [...gateLines(of), ...attackLines(attacked)],
          paid: delivered(),
        };
      },
      stop: async () => void (await Promise.all([run.stop(), attackers.stop()])),
    };
  },
});
