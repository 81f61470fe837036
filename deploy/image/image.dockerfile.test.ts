import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { validate } from 'dockerfile-utils';
import { NODE_FLAGS } from './bundle.ts';

/**
 * Checks the Dockerfile against its promises, because it cannot be built where there is no engine.
 */
const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const text = read('deploy/Dockerfile');
const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM ')));

test('a parser finds no error in the Dockerfile', () => {
  expect(validate(text).map(({ message, range }) => `line ${range.start.line + 1}: ${message}`)).toEqual([]);
});

test('every stage is based on the slim image of exactly the Node version of package.json', () => {
  const { node } = JSON.parse(read('package.json')).devDependencies;
  // A release has its digest behind it (tools/pin-images.ts).
  const bases = lines.filter((line) => line.startsWith('ARG NODE=')).map((line) => line.split('@')[0]);
  expect(bases).toEqual([`ARG NODE=node:${node}-bookworm-slim`]);
  const stages = lines.filter((line) => line.startsWith('FROM ')).map((line) => line.split(' '));
  const named = stages.flatMap(([, , , name]) => name ?? []);
  expect(stages.filter(([, base]) => !/^\$\{NODE\}$/.test(base!) && !named.includes(base!))).toEqual([]);
  expect(last[0]).toMatch(/^FROM \$\{NODE\} AS program$/);
});

test('the image runs one program as a numeric user other than root, from files that root owns', () => {
  expect(last.filter((line) => /^(USER|ENTRYPOINT|CMD|RUN|EXPOSE|VOLUME)/.test(line))).toEqual([
    'USER 10001:10001',
    `ENTRYPOINT ${JSON.stringify(['node', ...NODE_FLAGS, 'main.mjs']).replaceAll(',', ', ')}`,
  ]);
  // Only the output of bundle.ts.
  expect(last.filter((line) => line.startsWith('COPY'))).toEqual(['COPY --from=product /product /app']);
});

test('the build context is exactly what the Dockerfile copies', () => {
  const sources = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(' ').slice(1, -1));
  const [first, ...sent] = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  expect(first).toBe('*');
  expect(new Set(sent)).toEqual(new Set(sources.map((source) => `!${source}`)));
});
