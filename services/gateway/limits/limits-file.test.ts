import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { contractList } from '../../../shared/contract/index.ts';
import type { Limit } from '../../../shared/contract/service.ts';
import { LimitsFile } from './limits-file.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'limits-'));
afterAll(() => rmSync(folder, { recursive: true }));

const read = (content: unknown) => {
  const file = path.join(folder, 'limits.json');
  writeFileSync(file, JSON.stringify(content));
  return LimitsFile.safeParse(file);
};
const all = contractList.flatMap(({ name, operations }) =>
  Object.entries(operations).map(([op, { access, limits }]) => ({
    id: `${name}.${op}`,
    isPublic: access.length === 0,
    limits,
  })),
);
const raised = (limits: readonly Limit[]) =>
  limits.map(({ windowSeconds, per }) => ({ points: 1_000_000, windowSeconds, per }));

test('every limit of every operation can be raised', () => {
  const operations = Object.fromEntries(all.map(({ id, limits }) => [id, raised(limits)]));
  expect(read({ operations }).data?.operations).toEqual(operations);
});

test('no public operation can lose its limit per address', () => {
  const open = all.filter(({ isPublic }) => isPublic);
  expect(open.length).toBeGreaterThan(10);
  for (const { id, limits } of open) {
    const others = raised(limits).filter(({ per }) => per !== 'ip');
    const kept = [...others, { points: 1, windowSeconds: 1, per: 'account' }];
    const message = `has no limit per 'ip', as the contract has; raise it instead of removing it`;
    const issue = { path: ['operations', id], message };
    expect([id, read({ operations: { [id]: kept } }).error?.issues]).toMatchObject([id, [issue]]);
  }
});

test.each([
  ['quote.create', [{ points: 1, windowSeconds: 1, per: 'ip' }], "per 'account'"],
  ['identity.requestMagicLink', [{ points: 1, windowSeconds: 1, per: 'ip' }], "per the field 'email'"],
])('%s cannot lose another limit of the contract', (id, limits, lost) => {
  expect(read({ operations: { [id]: limits } }).error?.issues[0]?.message).toContain(lost);
});

test('a name that is no operation, and a list without a limit, are refused', () => {
  expect(read({ operations: { 'quote.none': [] } }).success).toBe(false);
  expect(read({ operations: { 'quote.create': [] } }).success).toBe(false);
});
