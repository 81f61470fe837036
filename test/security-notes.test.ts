import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { contractList } from '../shared/contract/index.ts';
import { operationId } from '../shared/contract/openapi.ts';

/** The sources of a service, without its tests and the texts of mails. */
const sourcesOf = (service: string): string =>
  globSync(`services/${service}/**/*.ts`, { cwd: path.resolve(import.meta.dirname, '..') })
    .filter((file) => !/\.test\.ts$|\/mails\/|\/security\//.test(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');

test('each security event that the contract names for a call is written by the service of the call', () => {
  const missing = contractList.flatMap(({ name: service, operations }) => {
    const noting = Object.entries(operations).flatMap(([name, { notes = [] }]) =>
      notes.map((kind) => ({ id: operationId(service, name), kind })),
    );
    const sources = noting.length === 0 ? '' : sourcesOf(service);
    return noting.filter(({ kind }) => !sources.includes(`'${kind}'`));
  });
  expect(missing).toEqual([]);
});
