// `npm run prove -- containers`: builds the image, runs compose.yaml in a container engine, pays,
// and runs the tests of this folder.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { flag, readCommandLine, text } from '../../deploy/local/processes/command-line.ts';
import { addCounts } from '../support/jest/last-line.ts';
import { run } from './command.ts';
import {
  ArchiveUnreachable,
  debianPackages,
  type Packages,
  whyNoPackages,
} from './engine/debian-packages.ts';
import { answeringEngine, type Engine } from './engine/engine.ts';
import { startDocker, stopUnpacked, unpackDocker } from './engine/unpacked-docker.ts';
import { imageLines } from './image.ts';
import { pinnedImages } from './images/pinned-images.ts';
import { saveImages } from './images/save.ts';
import { buildStandIns, prepareStandIns } from './images/stand-ins.ts';
import type { Installation } from './payment.ts';
import { createProject, installationOf, type Project } from './project.ts';

const { values: options } = readCommandLine({
  typed: 'npm run prove -- containers',
  about: `Builds deploy/Dockerfile, runs deploy/compose.yaml in a container engine, makes a payment, reads it back
from the chain, runs the tests in test/containers and removes everything.

The engine is the Docker or Podman with Compose that answers. Where none answers, root on Debian gets
Docker of Debian's packages, unpacked into a folder and run in namespaces of its own, with stand-ins of
the official images.`,
  options: {
    only: text('REGEX', 'runs only the tests whose file matches; "none" runs no test'),
    keep: flag('leaves everything running and prints how to use and how to stop it'),
    stop: text('FOLDER', 'ends what --keep has left running, and removes the folder'),
    cache: text('FOLDER', 'keeps the unpacked engine and its images in the folder for the next call'),
    unpack: flag('unpacks an engine even if another one answers'),
    save: text('FOLDER', 'only builds the images, and writes them as tar files for a cluster'),
    optional: flag('ends with 0 if there is no engine and none can be unpacked'),
  },
});

const repository = path.resolve(import.meta.dirname, '../..');
const startedAt = performance.now();
const step = (text: string) => {
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${seconds.padStart(6)} s  ${text}`);
};

const workFolder = (): string => {
  if (options.cache === undefined) return mkdtempSync(path.join(tmpdir(), 'quittance-containers-'));
  mkdirSync(options.cache, { recursive: true });
  return path.resolve(options.cache);
};

/** Why no container can run on this machine, or null. */
const whyNoEngine = (): string | null => {
  const why = whyNoPackages();
  if (why === null) return null;
  return (
    `no container engine with Compose 2 answers, and none can be unpacked because ${why}: ` +
    'start Docker or Podman, or run this as root on Debian 12 or newer'
  );
};

/** Unpacks an engine and prepares the base images that the builds need. */
const unpackEngine = async (work: string): Promise<Engine> => {
  // Lists are read once, and only if something is missing in the cache.
  let lists: Promise<Packages> | undefined;
  const packages = () => {
    lists ??= debianPackages(path.join(work, 'apt'));
    return lists;
  };
  const unpacked = unpackDocker(packages, work).then(() => step('Docker of Debian is unpacked'));
  const context = prepareStandIns(packages, work).then(() => step('stand-ins are prepared'));
  await Promise.all([unpacked, context]);
  const engine = await startDocker(work, options.keep);
  step(`engine: ${engine.description}`);
  return engine;
};

const build = async (engine: Engine, project: Project, work: string): Promise<void> => {
  const pinned = pinnedImages(repository);
  if (engine.isOwn) {
    await buildStandIns(engine.docker, work, pinned);
    step(`stand-ins of ${Object.values(pinned).join(', ')}`);
  }
  await run(engine.docker, [...project.compose, 'build'], { log: path.join(work, 'build.log') });
  step('both images of compose.yaml');
  for (const line of await imageLines(engine.docker, 'quittance:local', pinned.node))
    console.log(`          ${line}`);
};

const up = async (engine: Engine, project: Project, work: string): Promise<void> => {
  await run(engine.docker, [...project.compose, 'up', '--build', '--wait'], {
    log: path.join(work, 'up.log'),
  }).catch(async (error: Error) => {
    const states = await run(engine.docker, [...project.compose, 'ps', '--all']);
    const logs = await run(engine.docker, [...project.compose, 'logs', '--tail', '10']);
    throw new Error(`${error.message}\n${states}\n${logs}`);
  });
  const running = await run(engine.docker, [...project.compose, 'ps', '--quiet']);
  step(`up --build --wait: ${running.trim().split('\n').length} containers run`);
};

const nodeIn = (engine: Engine, args: readonly string[], env: Record<string, string>, echo: boolean) => {
  const [command, ...rest] = [...engine.inNetwork, process.execPath, ...args];
  return run(command!, rest, { cwd: repository, env: { ...process.env, ...env }, echo });
};

const payOnce = async (engine: Engine, installation: Installation): Promise<void> => {
  const program = path.join(import.meta.dirname, 'payment.ts');
  const args = ['--disable-warning=ExperimentalWarning', program, JSON.stringify(installation)];
  step((await nodeIn(engine, args, {}, false)).trim());
};

const test = async (engine: Engine, project: Project, installation: Installation): Promise<void> => {
  const { docker } = engine;
  const args = [
    ...['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'],
    ...['node_modules/jest/bin/jest.js', '--config', 'test/containers/jest.config.js', '--runInBand'],
    ...(options.only === undefined ? [] : ['--testPathPatterns', options.only]),
  ];
  await nodeIn(engine, args, { CONTAINERS: JSON.stringify({ docker, installation, ...project }) }, true);
  step('tests');
};

/** How to use and end what --keep leaves. */
const usage = (engine: Engine, project: Project, work: string, { gateway_url }: Installation): string => {
  const docker = [engine.docker, ...project.compose].join(' ');
  const stop = engine.isOwn
    ? `npm run prove -- containers --stop ${work}`
    : `${docker} down --volumes && rm -r ${work}`;
  return [
    'The containers keep running.',
    `  the API:  ${[...engine.inNetwork, 'curl', `${gateway_url}/openapi.json`].join(' ')}`,
    `  Compose:  ${docker} ps`,
    `  stop:     ${stop}`,
  ].join('\n');
};

type Open = { work: string; engine?: Engine; project?: Project };

/** Removes all that this call has made. */
const close = async ({ work, engine, project }: Open): Promise<void> => {
  if (engine !== undefined && project !== undefined) {
    await run(engine.docker, [...project.compose, 'down', '--volumes'], { log: path.join(work, 'down.log') });
    step('down --volumes');
  }
  await engine?.stop();
  const gone = options.cache === undefined ? work : path.join(work, 'project');
  rmSync(gone, { recursive: true, force: true });
  step(`removed: the containers${engine?.isOwn ? ', the engine, its namespaces' : ''} and ${gone}`);
};

const trial = async (open: Open, answering: Engine | null): Promise<void> => {
  const { work } = open;
  step(`work folder ${work}`);
  if (answering !== null) step(`engine: ${answering.description}, with the official images`);
  const engine = answering ?? (await unpackEngine(work));
  open.engine = engine;
  const folder = path.join(work, 'project');
  rmSync(folder, { recursive: true, force: true });
  const project = createProject(repository, folder, engine);
  await build(engine, project, work);
  if (options.save !== undefined) {
    const pinned = pinnedImages(repository);
    for (const line of await saveImages(engine.docker, path.resolve(options.save), repository, pinned))
      step(line);
    return;
  }
  open.project = project;
  await up(engine, project, work);
  const installation = await installationOf(engine, project);
  await payOnce(engine, installation);
  if (options.only !== 'none') await test(engine, project, installation);
  if (options.keep) console.log(usage(engine, project, work, installation));
};

const stopKept = async (work: string): Promise<void> => {
  await stopUnpacked(work);
  rmSync(work, { recursive: true, force: true });
  step(`stopped and removed: ${work}`);
};

/** Nothing can be run here. */
const skip = (why: string): void => {
  console.error(`containers: ${why}`);
  process.exitCode = options.optional ? 0 : 1;
};

const main = async (): Promise<void> => {
  if (options.stop !== undefined) return stopKept(path.resolve(options.stop));
  const answering = options.unpack ? null : await answeringEngine();
  const missing = answering === null ? whyNoEngine() : null;
  if (missing !== null) return skip(missing);
  const open: Open = { work: workFolder() };
  let closing: Promise<void> | undefined;
  const closed = () => {
    closing ??= close(open);
    return closing;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void closed().finally(() => process.exit(128 + constants.signals[signal])));
  try {
    await trial(open, answering);
    if (!options.keep) await closed();
    addCounts({ passed: 1, failed: 0 });
  } catch (error) {
    await closed().catch((failed: Error) => console.error(failed.message));
    if (!(error instanceof ArchiveUnreachable)) throw error;
    skip(error.message);
  }
};

try {
  await main();
} catch (error) {
  addCounts({ passed: 0, failed: 1 });
  console.error(`containers: ${(error as Error).message}`);
  process.exitCode = 1;
}
