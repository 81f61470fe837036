import { expect, test } from '@jest/globals';
import { createLocalReserve } from './local-reserve.ts';
import type { CommitOutcome, SignedTransition } from './store/commit-signed.ts';

const CAP = 1_000_000n;
const FEE = 100n;
const AHEAD = CAP / 1000n;

const transition = (account: string, cap = CAP, amount = FEE, startsAt = 0): SignedTransition => ({
  intent: {
    ...{ intent_id: crypto.randomUUID(), kind: 'settle', object_id: 'stl_1', request: {}, traceparent: null },
  },
  isNew: false,
  message: null,
  signed: {
    ...{ generation: 1, signature: '', wire: new Uint8Array(), lastValidBlockHeight: 0 },
    ...{ creates: null, signBefore: null },
  },
  claim: { scope: account, startsAt, amount, cap },
});

/**
 * A stand-in for the statement that commits. It reserves all scopes or none. `left`: what is free
 * in the table.
 */
const table = (left: bigint) => {
  const state = { left, statements: 0 };
  const commit = (
    transitions: readonly SignedTransition[],
    isOvertaken = (_index: number) => false,
  ): CommitOutcome[] => {
    const refused = new Set<string>();
    for (const [scope, own] of Map.groupBy(transitions, ({ claim }) => claim?.scope ?? '')) {
      const claimed = own.reduce((sum, { claim }) => sum + (claim?.amount ?? 0n), 0n);
      if (scope === '') continue;
      state.statements += 1;
      if (claimed > state.left) refused.add(scope);
      else state.left -= claimed;
    }
    return transitions.map(({ claim }, index) => {
      if (claim !== null && refused.has(claim.scope)) return 'over_budget';
      return isOvertaken(index) ? 'overtaken' : [];
    });
  };
  return { state, commit };
};

test('a first payment reserves its amount, and later payments reserve many amounts in one statement', () => {
  const reserve = createLocalReserve();
  const { state, commit } = table(CAP);
  const pay = (account: string) => {
    const reserved = reserve.reserve([transition(account)], false);
    reserved.release(commit(reserved.transitions));
  };
  pay('a');
  pay('b');
  expect(CAP - state.left).toBe(2n * FEE);
  for (let times = 0; times < 10; times += 1) pay('a');
  expect(CAP - state.left).toBe(2n * FEE + AHEAD);
  expect(state.statements).toBe(3);
});

test('an amount that is reserved in advance for one day is not used on another day', () => {
  const reserve = createLocalReserve();
  const { commit } = table(CAP);
  for (let times = 0; times < 2; times += 1) {
    const reserved = reserve.reserve([transition('a')], false);
    reserved.release(commit(reserved.transitions));
  }
  expect(reserve.reserve([transition('a', CAP, FEE, 1)], false).transitions[0]!.claim!.amount).toBe(FEE);
});

test.each([1, 2, 3, 4, 5, 6])(
  'replicas, refusals, discarded bytes, lost answers and crashes never use more than is reserved (seed %i)',
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
      const reserved = replicas[at]!.reserve(transitions, exactly);
      const outcomes = commit(reserved.transitions, () => upTo(5) === 0);
      // After a lost answer the outcome is unknown, because the bytes may have been committed.
      if (upTo(20) > 0) reserved.release(outcomes);
      for (const [index, outcome] of outcomes.entries())
        if (typeof outcome !== 'string') used += transitions[index]!.claim!.amount;
      if (exactly && outcomes.includes('over_budget')) refusedExactly = true;
      expect(used).toBeLessThanOrEqual(cap - state.left);
    }
    expect(refusedExactly).toBe(true);
    // Amounts that are reserved in advance and then lost do not use up the budget.
    expect(used).toBeGreaterThan((cap * 8n) / 10n);
  },
);
