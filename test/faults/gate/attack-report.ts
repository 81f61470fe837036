import { countsOf, listOf } from '../checks/counts.ts';
import type { AttackCase } from './attack-invariants.ts';
import { mishapName } from './attacks.ts';
import { paidOf } from './invariants.ts';

/** Lines of a report on attacks. */
export const attackLines = ({ ended, rows, deaths, refused }: AttackCase): string[] => {
  const opened = ended.filter(({ row }) => row !== undefined).map(({ attack }) => attack);
  const tries = opened.flatMap((attack) => attack.tries);
  const met = opened.filter(({ isMet }) => isMet).map(({ mishap }) => mishapName(mishap));
  return [
    `attacks: ${listOf(countsOf(opened.map(({ ware }) => ware)))}`,
    `${tries.length} calls: ${listOf(countsOf(tries.map(({ form }) => form)))}`,
    `met: ${listOf(countsOf(met))}; ${deaths.gates.length} gates and ${deaths.upstream.length} APIs died, ${refused} reports were refused`,
    `tabs and payments: ${listOf(countsOf(rows.map(({ status }) => status)))}; ${paidOf({ rows }).length} paid`,
    `calls ended with: ${listOf(countsOf(tries.map(({ status, reason }) => `${status ?? 'no answer'} ${reason ?? ''}`.trim())))}`,
  ];
};
