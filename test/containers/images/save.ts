import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { run } from '../command.ts';
import type { PinnedImages } from './pinned-images.ts';

/**
 * Writes the images as tar files, as `docker save` does, for a cluster whose nodes cannot pull:
 * product.tar, sandbox.tar, nats.tar, redis.tar and postgres.tar.
 * @returns a line for each file
 */
export const saveImages = async (
  docker: string,
  folder: string,
  repository: string,
  { nats, redis, postgres }: PinnedImages,
): Promise<string[]> => {
  mkdirSync(folder, { recursive: true });
  const { version } = JSON.parse(readFileSync(path.join(repository, 'package.json'), 'utf8'));
  const product = `quittance:${version}`;
  await run(docker, ['tag', 'quittance:local', product]);
  const images = { product, sandbox: 'quittance-sandbox:local', nats, redis, postgres };
  const lines: string[] = [];
  for (const [name, image] of Object.entries(images)) {
    const file = path.join(folder, `${name}.tar`);
    // The engine may not see the folder, so it writes to a pipe.
    const saving = spawn(docker, ['save', image], { stdio: ['ignore', openSync(file, 'w'), 'inherit'] });
    const [code] = await once(saving, 'close');
    if (code !== 0) throw new Error(`${image} cannot be written to ${file}: see the engine's message above`);
    lines.push(`${file}: ${image}, ${Math.round(statSync(file).size / 1e6)} MB`);
  }
  return lines;
};
