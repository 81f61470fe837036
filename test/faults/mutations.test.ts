import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { faultNames } from './faults/index.ts';
import { mutations } from './mutations.ts';

const root = path.resolve(import.meta.dirname, '../..');

test.each(mutations.map((mutation) => [mutation.name, mutation] as const))(
  '%s: the text that it replaces is in the product, and its faults exist',
  (_name, { patches = [], sql, faults, traffic = 'own' }) => {
    expect(patches.length > 0 || sql !== undefined).toBe(true);
    for (const { file, from } of patches) expect(readFileSync(path.join(root, file), 'utf8')).toContain(from);
    expect(faultNames([traffic])).toEqual(expect.arrayContaining([...faults]));
  },
);
