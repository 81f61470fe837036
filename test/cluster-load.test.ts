import { expect, test } from '@jest/globals';
import { refusedLines } from './cluster/support/load.ts';
import { coresBetween, quantity, samplesIn } from './cluster/support/usage.ts';

/** The parts of the cluster tests (test/cluster) that need no cluster. */

const container = (name: string, seconds: number, bytes: number) => ({
  name,
  cpu: { time: '2026-01-01T00:00:10Z', usageCoreNanoSeconds: seconds * 1e9 },
  memory: { workingSetBytes: bytes },
});

test('samples are those of the containers of one namespace that the kubelet has measured', () => {
  const pods = [
    { podRef: { name: 'quote-1', namespace: 'ours' }, containers: [container('quote', 2, 50)] },
    { podRef: { name: 'quote-1', namespace: 'theirs' }, containers: [container('quote', 9, 90)] },
    { podRef: { name: 'new', namespace: 'ours' }, containers: [{ name: 'new' }] },
    { podRef: { name: 'ended', namespace: 'ours' } },
  ];
  expect([...samplesIn({ pods }, 'ours')]).toEqual([
    ['quote', { at: Date.parse('2026-01-01T00:00:10Z'), memoryBytes: 50, cpuNanos: 2e9 }],
  ]);
});

test('cores are the CPU time between two samples, divided by the time between them', () => {
  const at = (ms: number, cpuNanos: number) => ({ at: ms, cpuNanos, memoryBytes: 0 });
  expect(coresBetween(at(1000, 5e9), at(11_000, 10e9))).toBe(0.5);
});

test('quantities are read in cores and bytes, and others are refused', () => {
  expect(['150m', '2', '128Mi', '1Gi', '64Ki'].map(quantity)).toEqual([
    0.15,
    2,
    128 * 2 ** 20,
    2 ** 30,
    64 * 2 ** 10,
  ]);
  expect(() => quantity('1e3')).toThrow('no quantity');
});

test('equal refused calls are counted in one line', () => {
  const call = (status: number | null) => ({ what: 'settle', askedAt: 1, at: 2, status, body: null });
  expect(refusedLines([call(503), call(null), call(503)])).toEqual([
    'settle: 503 null (2 times)',
    'settle: no answer null',
  ]);
});
