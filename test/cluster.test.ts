import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { imageRoute } from './cluster/support/contexts.ts';
import { imageName, provisionOf, writeNext } from './cluster/support/images.ts';

/** `npm run prove -- cluster` without a cluster: how images come to the nodes of a context. */

const ID = '0123456789abcdef'.repeat(4);
const none = { registry: '', imagesInNodes: false };

test.each([
  ['kind-quittance', ['kind', 'load', 'image-archive', 'x.tar', '--name', 'quittance']],
  ['k3d-trial', ['k3d', 'image', 'import', 'x.tar', '--cluster', 'trial']],
  ['minikube', ['minikube', 'image', 'load', 'x.tar', '--profile', 'minikube']],
])('the context %s: its tool loads the archive of an image under its full name', (context, command) => {
  const route = imageRoute(context, none);
  const image = imageName(route, 'quittance', ID);
  const full = 'docker.io/library/quittance:0123456789ab';
  expect(`${image.newName}:${image.newTag}`).toBe(full);
  expect(provisionOf('docker', route, image, 'x.tar')).toEqual([
    ['docker', 'save', '--output', 'x.tar', full],
    command,
  ]);
});

test('a registry gets the image under its own name', () => {
  const route = imageRoute('production', { ...none, registry: 'registry.example:5000/team' });
  const image = imageName(route, 'quittance-sandbox', ID);
  expect(provisionOf('podman', route, image, 'x.tar')).toEqual([
    ['podman', 'push', 'registry.example:5000/team/quittance-sandbox:0123456789ab'],
  ]);
});

test('nodes that have the images get none, whatever the name of the context', () => {
  const route = imageRoute('kind-quittance', { ...none, imagesInNodes: true });
  expect(provisionOf('docker', route, imageName(route, 'quittance', ID), 'x.tar')).toEqual([]);
});

test.each([
  ['production', none, /--registry HOST\/PATH .* or --images-in-nodes/],
  ['kind', none, /--registry HOST\/PATH/],
  ['minikube-2', none, /--registry HOST\/PATH/],
  ['production', { registry: 'https://registry.example', imagesInNodes: false }, /without a scheme/],
  ['production', { registry: 'registry.example', imagesInNodes: true }, /either --registry or/],
])('the context %s with %j is refused, with what to pass', (context, options, message) => {
  expect(() => imageRoute(context, options)).toThrow(message);
});

test('the next version of this tree has all that deploy/Dockerfile copies', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'next-'));
  try {
    writeNext(folder);
    const dockerfile = readFileSync(path.join(folder, 'deploy/Dockerfile'), 'utf8');
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from]) =>
      from!.split(' '),
    );
    expect(copied).not.toEqual([]);
    expect(copied.filter((name) => globSync(name, { cwd: folder }).length === 0)).toEqual([]);
    const versionOf = (tree: string) =>
      (JSON.parse(readFileSync(path.join(tree, 'package.json'), 'utf8')) as { version: string }).version;
    expect(versionOf(folder)).not.toBe(versionOf('.'));
  } finally {
    rmSync(folder, { recursive: true });
  }
});
