import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

/** The official images that ours are based on or run beside, by the name of their stand-in. */
export type PinnedImages = Record<'node' | 'nats' | 'redis' | 'postgres', string>;

/** The images that deploy/Dockerfile and deploy/compose.yaml name, with their tags. */
export const pinnedImages = (repository: string): PinnedImages => {
  const read = (file: string) => readFileSync(path.join(repository, 'deploy', file), 'utf8');
  const node = /^ARG NODE=(\S+)$/m.exec(read('Dockerfile'))?.[1];
  if (node === undefined) throw new Error('deploy/Dockerfile does not name its base: add "ARG NODE=…"');
  const { services } = parse(read('compose.yaml'), { merge: true }) as {
    services: Record<string, { image: string }>;
  };
  const imageOf = (name: 'nats' | 'redis' | 'postgres') => services[name]!.image;
  return { node, nats: imageOf('nats'), redis: imageOf('redis'), postgres: imageOf('postgres') };
};
