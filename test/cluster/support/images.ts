import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { RenamedImage } from '../../../tools/k8s/trial.ts';
import { run, succeeds } from '../../containers/command.ts';
import { writeVersion } from '../../faults/versions/build.ts';
import { EDITS } from '../../faults/versions/edits.ts';
import type { ImageRoute } from './contexts.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** An image of deploy/Dockerfile, by its name in the manifests. */
type Image = { name: string; stage: readonly string[] };

const PRODUCT: Image = { name: 'quittance', stage: [] };
const IMAGES: readonly Image[] = [PRODUCT, { name: 'quittance-sandbox', stage: ['--target', 'sandbox'] }];
/** The next version of the product in nodes for which nothing is built. */
const NEXT_IN_NODES = 'quittance:next';
const DIGITS_OF_ID = 12;

/** The program of the engine that answers: it builds. Compose is not needed. */
const engine = async (): Promise<string> => {
  for (const program of ['docker', 'podman']) if (await succeeds(program, ['info'])) return program;
  throw new Error(
    'No container engine answers, so the images cannot be built. Start Docker or Podman, or pass --images-in-nodes if the nodes have the images.',
  );
};

/** The name under which the nodes find an image. Without a registry it is Docker's full name. */
export const imageName = (route: ImageRoute, name: string, id: string): RenamedImage => ({
  name,
  newName: `${route.kind === 'registry' ? route.prefix : 'docker.io/library/'}${name}`,
  newTag: id.slice(0, DIGITS_OF_ID),
});

/** The commands that bring a tagged image to the nodes, in order. */
export const provisionOf = (
  docker: string,
  route: ImageRoute,
  { newName, newTag }: RenamedImage,
  archive: string,
): string[][] => {
  const image = `${newName}:${newTag}`;
  if (route.kind === 'registry') return [[docker, 'push', image]];
  if (route.kind === 'in-nodes') return [];
  return [
    [docker, 'save', '--output', archive, image],
    [route.command, ...route.before, archive, ...route.after],
  ];
};

/** Builds images of a tree and brings them into the nodes, or into the registry. */
const provide = async (
  route: ImageRoute,
  { tree, images, report }: { tree: string; images: readonly Image[]; report: (line: string) => void },
): Promise<RenamedImage[]> => {
  const docker = await engine();
  const folder = mkdtempSync(path.join(tmpdir(), 'cluster-images-'));
  try {
    const renamed: RenamedImage[] = [];
    for (const { name, stage } of images) {
      const idFile = path.join(folder, `${name}.id`);
      const build = ['build', '--file', 'deploy/Dockerfile', ...stage, '--iidfile', idFile, '.'];
      await run(docker, build, { cwd: tree });
      const id = readFileSync(idFile, 'utf8').trim().replace('sha256:', '');
      const image = imageName(route, name, id);
      await run(docker, ['tag', id, `${image.newName}:${image.newTag}`]);
      for (const [command, ...args] of provisionOf(docker, route, image, path.join(folder, `${name}.tar`)))
        await run(command!, args);
      renamed.push(image);
      report(
        `the image ${image.newName}:${image.newTag} is ${route.kind === 'registry' ? 'pushed' : 'in the nodes'}`,
      );
    }
    return renamed;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/**
 * Builds the images and brings them into the nodes, or into the registry. Their tags are their ids,
 * because a node does not fetch a tag again that it has.
 * @returns what the manifests must be changed to; `[]` if the nodes have the manifests' names
 */
export const provideImages = async (
  route: ImageRoute,
  report: (line: string) => void,
): Promise<RenamedImage[]> =>
  route.kind === 'in-nodes' ? [] : provide(route, { tree: root, images: IMAGES, report });

/** Writes what deploy/Dockerfile needs of the next version of this tree. */
export const writeNext = (folder: string): void => {
  const ignore = readFileSync(path.join(root, '.dockerignore'), 'utf8');
  const context = [...ignore.matchAll(/^!(.+)$/gm)].map(([, name]) => name!);
  writeVersion(EDITS.next, folder, [...context, '.dockerignore', 'deploy/Dockerfile']);
};

/** The product of the next version of this tree, as `provideImages`. Returns its full name. */
export const provideNext = async (route: ImageRoute, report: (line: string) => void): Promise<string> => {
  if (route.kind === 'in-nodes') return NEXT_IN_NODES;
  const tree = mkdtempSync(path.join(tmpdir(), 'cluster-next-'));
  try {
    writeNext(tree);
    const [image] = await provide(route, { tree, images: [PRODUCT], report });
    return `${image!.newName}:${image!.newTag}`;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
};
