import { expect, test } from '@jest/globals';
import type { CommitOutcome, SignedTransition } from '../intents/store/intents.ts';
import { createLocalReserve } from './local-reserve.ts';

const CAP = 1_000_000n;
const FEE = 100n;
const PORTION = CAP / 1000n;

const transition = (account: string, cap = CAP, amount = FEE, startsAt = 0): SignedTransition => ({
  ...{ intentId: crypto.randomUUID(), generation: 1, traceparent: null, message: null },
  signed: {
    ...{ signature: '', wire: new Uint8Array(), lastValidBlockHeight: 0, creates: null, signBefore: null },
  },
  claim: { scope: account, startsAt, amount, cap },
});

/** The committing statement: it reserves a scope as a whole or not at all. `left`: what is free in the table. */
const table = (left: bigint) => {
  const state = { left, statements: 0 };
  const commit = (
    transitions: readonly SignedTransition[],
    movedOn = (_index: number) => false,
  ): CommitOutcome[] => {
    const refused = new Set<string>();
    for (const [scope, own] of Map.groupBy(transitions, ({ claim }) => claim?.scope ?? '')) {
      const asked = own.reduce((sum, { claim }) => sum + (claim?.amount ?? 0n), 0n);
      if (scope === '') continue;
      state.statements += 1;
      if (asked > state.left) refused.add(scope);
      else state.left -= asked;
    }
    return transitions.map(({ claim }, index) => {
      if (claim !== null && refused.has(claim.scope)) return 'over_budget';
      return movedOn(index) ? 'overtaken' : [];
    });
  };
  return { state, commit };
};

test('who pays once reserves just that; who pays again reserves a portion once in many payments', () => {
  const portions = createLocalReserve();
  const { state, commit } = table(CAP);
  const pay = (account: string) => {
    const drawn = portions.reserve([transition(account)], false);
    drawn.keep(commit(drawn.transitions));
  };
  pay('a');
  pay('b');
  expect(CAP - state.left).toBe(2n * FEE);
  for (let times = 0; times < 10; times += 1) pay('a');
  expect(CAP - state.left).toBe(2n * FEE + PORTION);
  expect(state.statements).toBe(3);
});

test('of two days nothing is used for the other', () => {
  const portions = createLocalReserve();
  const { commit } = table(CAP);
  for (let times = 0; times < 2; times += 1) {
    const drawn = portions.reserve([transition('a')], false);
    drawn.keep(commit(drawn.transitions));
  }
  expect(portions.reserve([transition('a', CAP, FEE, 1)], false).transitions[0]!.claim!.amount).toBe(FEE);
});

test.each([1, 2, 3, 4, 5, 6])(
  'replicas, refusals, bytes that are forgotten, lost answers, crashes: never more than was reserved (%i)',
  (seed) => {
    let random = seed;
    const upTo = (below: number) => {
      random = (random * 48_271) % 2_147_483_647;
      return random % below;
    };
    const cap = 200_000n;
    const { state, commit } = table(cap);
    const replicas = [createLocalReserve(), createLocalReserve()];
    let used = 0n;
    let refusedExactly = false;
    for (let round = 0; round < 3000; round += 1) {
      const at = upTo(2);
      if (upTo(200) === 0) replicas[at] = createLocalReserve();
      const transitions = Array.from({ length: 1 + upTo(4) }, () =>
        transition('a', cap, BigInt(1 + upTo(300))),
      );
      const exactly = upTo(4) === 0;
      const drawn = replicas[at]!.reserve(transitions, exactly);
      const outcomes = commit(drawn.transitions, () => upTo(5) === 0);
      // An answer that is lost tells nothing, and the bytes may have been committed.
      if (upTo(20) > 0) drawn.keep(outcomes);
      for (const [index, outcome] of outcomes.entries())
        if (typeof outcome !== 'string') used += transitions[index]!.claim!.amount;
      if (exactly && outcomes.includes('over_budget')) refusedExactly = true;
      expect(used).toBeLessThanOrEqual(cap - state.left);
    }
    expect(refusedExactly).toBe(true);
    // It is not used up by what portions waste.
    expect(used).toBeGreaterThan((cap * 8n) / 10n);
  },
);
