import type { Rng } from '../rng.ts';
import type { NextAttack } from './attackers.ts';
import { FORMS, type Mishap, WARES, type Ware } from './attacks.ts';
import { STEPS } from './log.ts';

const MOST_CALLS = 3;
const REFUSED_MS = [2000, 6000] as const;

const mishapOf = (rng: Rng, ware: Ware): Mishap => {
  const kinds = ['none', 'dies', 'reports refused', 'dies unrecorded'] as const;
  const kind = rng.pick(ware === 'goods' ? kinds.slice(0, 2) : ware === 'again' ? kinds.slice(0, 3) : kinds);
  if (kind === 'dies') return { kind, victim: rng.pick(['gate', 'upstream']), at: rng.pick(STEPS) };
  if (kind === 'reports refused')
    return { kind, status: rng.pick([429, 503]), forMs: rng.int(...REFUSED_MS) };
  return { kind };
};

/** Attacks of one attacker, a function of its random numbers. */
export const attacksOf = (rng: Rng, isOver: () => boolean): NextAttack => {
  let number = 0;
  return () => {
    if (isOver()) return null;
    number += 1;
    const ware = rng.pick(WARES);
    const mishap = mishapOf(rng, ware);
    // A payment of a fixed price is for one request.
    const count = ware === 'goods' ? 1 : rng.int(1, MOST_CALLS + 1);
    const forms = Array.from({ length: count }, () => rng.pick(FORMS));
    // What dies at a step of the short answer needs one.
    if (mishap.kind.startsWith('dies') && forms[0] === 'stalls') forms[0] = 'plain';
    return { ware, mishap, forms, rng: rng.fork(number) };
  };
};
