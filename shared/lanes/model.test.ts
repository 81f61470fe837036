import { expect, test } from '@jest/globals';
import { newId } from '../lib/id.ts';
import { LANES, laneOf } from '../lib/lane.ts';
import { lanesToTake, type Replica } from './model.ts';

/** `aabb`: the owners of the lanes 0 to 3; a dot: nobody. */
const lanesOf = (owners: string) =>
  [...owners].map((owner, lane) => ({ lane, replica_id: owner === '.' ? null : owner }));

const LONG_AGO = 60_000;

test.each<[string, string, Record<string, number>, string, number, number[]]>([
  ['the first replica takes all lanes', '....', {}, 'a', LONG_AGO, [0, 1, 2, 3]],
  ['a stand-by leaves the lanes of an owner', 'aaaa', { a: 0.5 }, 'b', LONG_AGO, []],
  ['the lanes of an owner that is gone are taken', 'xxxx', {}, 'b', LONG_AGO, [0, 1, 2, 3]],
  ['so are they right after a move', 'xxxx', {}, 'b', 0, [0, 1, 2, 3]],
  ['an owner takes them', 'aaxx', { b: 0 }, 'a', LONG_AGO, [2, 3]],
  ['a stand-by leaves them to it', 'aaxx', { a: 0.5 }, 'b', LONG_AGO, []],
  ['a stand-by takes them from a busy owner', 'aaxx', { a: 0.7 }, 'b', LONG_AGO, [2, 3]],
  ['a stand-by takes half of a busy owner', 'aaaa', { a: 0.7 }, 'b', LONG_AGO, [1, 3]],
  ['but not while the last move is new', 'aaaa', { a: 0.7 }, 'b', 4000, []],
  ['one of several stand-bys does', 'aaaa', { a: 0.7, b: 0, c: 0.01 }, 'c', LONG_AGO, []],
  ['a busy owner takes nothing', 'aabb', { a: 0.9, b: 0.7 }, 'b', LONG_AGO, []],
  ['an owner with room takes from a busy one', 'aaab', { a: 0.9, b: 0.2 }, 'b', LONG_AGO, [1]],
  ['the only lane of a busy owner stays', 'abbb', { a: 0.9, b: 0.2 }, 'b', LONG_AGO, []],
  ['two busy owners: the busiest one gives', 'aabb', { a: 0.7, b: 0.8 }, 'c', LONG_AGO, [3]],
  ['an idle owner gives its lanes to the first', 'aabb', { a: 0.1, b: 0.1 }, 'a', LONG_AGO, [2, 3]],
  ['the first keeps its own', 'aabb', { a: 0.1, b: 0.1 }, 'b', LONG_AGO, []],
  ['also if it is the idle one', 'aabb', { a: 0.05, b: 0.5 }, 'b', LONG_AGO, []],
  ['nothing is put together that would be busy', 'aabb', { a: 0.4, b: 0.1 }, 'a', LONG_AGO, []],
  ['an owner that is not idle keeps its lanes', 'aabb', { a: 0.1, b: 0.2 }, 'a', LONG_AGO, []],
])('%s', (_name, owners, loads, self, movedMsAgo, expected) => {
  const replicas = Object.entries(loads).map(([replica_id, load]): Replica => ({ replica_id, load }));
  const own = replicas.find(({ replica_id }) => replica_id === self) ?? { replica_id: self, load: 0 };
  const taken = lanesToTake({ replicas, lanes: lanesOf(owners), movedMsAgo }, own);
  expect(taken.map(({ lane }) => lane)).toEqual(expected);
  // They are taken from those who have them now.
  expect(taken).toEqual(taken.map(({ lane }) => lanesOf(owners)[lane]!));
});

test('a split is not taken back at the loads that it leads to', () => {
  const halves = [0.31, 0.35].map((load, index): Replica => ({ replica_id: 'ab'[index]!, load }));
  for (const own of halves)
    expect(lanesToTake({ replicas: halves, lanes: lanesOf('aabb'), movedMsAgo: LONG_AGO }, own)).toEqual([]);
});

test('accounts are spread over all lanes, and each has one', () => {
  const counts = Array<number>(LANES).fill(0);
  for (let i = 0; i < 16_000; i += 1) counts[laneOf(newId('acct'))]! += 1;
  expect(Math.min(...counts)).toBeGreaterThan(800);
  expect(Math.max(...counts)).toBeLessThan(1200);
  expect(laneOf('acct_01h455vb4pex5vsknk084sn02q')).toBe(laneOf('acct_01h455vb4pex5vsknk084sn02q'));
});
