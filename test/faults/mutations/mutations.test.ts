import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { economicsMutations } from '../../economics/mutations.ts';
import { faultNames } from '../faults/index.ts';
import type { Mutation } from './mutation.ts';
import { mutations } from './mutations.ts';

const root = path.resolve(import.meta.dirname, '../../..');

const expectTexts = (patches: NonNullable<Mutation['patches']>): void => {
  for (const { file, from } of patches) expect(readFileSync(path.join(root, file), 'utf8')).toContain(from);
};

test.each(mutations.map((mutation) => [mutation.name, mutation] as const))(
  '%s: the text that it replaces is in the product, and its faults exist',
  (_name, { patches = [], sql, faults, traffic = 'own' }) => {
    expect(patches.length > 0 || sql !== undefined).toBe(true);
    expectTexts(patches);
    expect(faultNames([traffic])).toEqual(expect.arrayContaining([...faults]));
  },
);

test.each(economicsMutations.map((mutation) => [mutation.name, mutation] as const))(
  '%s: the text that it replaces is in the product',
  (_name, { patches }) => expectTexts(patches),
);
