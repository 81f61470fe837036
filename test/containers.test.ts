import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { mirrorOf } from './containers/engine/debian-packages.ts';
import { ownLayers } from './containers/image.ts';
import { pinnedImages } from './containers/images/pinned-images.ts';
import { portsOverride } from './containers/project.ts';

/** What `npm run prove -- containers` does without an engine. The rest runs in test/containers. */
const root = path.resolve(import.meta.dirname, '..');
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

test('the build downloads no front end, which no line of the Dockerfile needs', () => {
  expect(read('deploy/Dockerfile')).not.toMatch(/^#\s*(syntax|escape|check)\s*=/m);
});

test('every image that deploy/ pins and the tests need has a stand-in', () => {
  const pinned = pinnedImages(root);
  const stages = [...read('test/containers/images/Dockerfile').matchAll(/^FROM base AS (\S+)$/gm)];
  expect(new Set(stages.map(([, name]) => name))).toEqual(new Set(Object.keys(pinned)));
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string; profiles?: string[] }>;
  };
  const others = Object.values(services)
    .filter(({ image, profiles }) => profiles === undefined && !image.startsWith('quittance'))
    .map(({ image }) => image);
  expect(new Set(others)).toEqual(new Set([pinned.nats, pinned.redis, pinned.postgres]));
  expect(pinned.node).toMatch(/^node:\d+\.\d+\.\d+-bookworm-slim(@sha256:[0-9a-f]{64})?$/);
});

test('beside other programs, every published port becomes a free one of this machine', () => {
  const { services } = parse(read('deploy/compose.yaml'), { merge: true }) as {
    services: Record<string, { ports?: string[] }>;
  };
  const published = Object.keys(services).filter((name) => services[name]!.ports !== undefined);
  const override = portsOverride(read('deploy/compose.yaml'));
  for (const name of published) expect(override).toContain(`\n  ${name}: { ports: !override [`);
  expect(override).toContain('chain: { ports: !override ["127.0.0.1::8899", "127.0.0.1::8900"] }');
  expect(override).not.toMatch(/:\d+:\d+/);
});

test('the layers over the base are those before the rows of the base’s own history', () => {
  const base = [
    { bytes: 0, createdBy: 'CMD ["node"]' },
    { bytes: 120, createdBy: 'COPY node' },
  ];
  const history = [{ bytes: 0, createdBy: 'USER' }, { bytes: 21, createdBy: 'COPY /product /app' }, ...base];
  expect(ownLayers(history, base)).toEqual({
    own: [{ bytes: 21, createdBy: 'COPY /product /app' }],
    baseBytes: 120,
  });
});

test('packages come from the mirror of this machine’s apt, and without one from Debian’s', () => {
  const targets = ['http://apt.example/cloud main', 'http://mirror.example/debian-security/ main'];
  expect(mirrorOf([...targets, 'http://mirror.example/debian/ main'].join('\n'))).toBe(
    'http://mirror.example/debian/',
  );
  expect(mirrorOf(targets.join('\n'))).toBe('http://deb.debian.org/debian');
});
