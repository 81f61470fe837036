import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { docker, folder } from './running.ts';

/**
 * Proves that the image is reproducible with the engine's own builder: two builds that share only
 * the installed packages and the console are the same image, by its digest.
 */
const TAGS = ['quittance:first-build', 'quittance:second-build'];
afterAll(async () => {
  await docker('image', 'rm', '--force', ...TAGS);
});

test('two builds of the same sources are the same image', async () => {
  const ids: string[] = [];
  for (const tag of TAGS) {
    await docker(
      ...['build', '--quiet', '--file', path.join(folder, 'deploy/Dockerfile'), '--tag', tag],
      ...['--no-cache-filter', 'product,program', '--build-arg', 'SOURCE_DATE_EPOCH=1767225600', folder],
    );
    ids.push(await docker('image', 'inspect', '--format', '{{.Id}}', tag));
  }
  expect(ids[1]).toBe(ids[0]);
});
