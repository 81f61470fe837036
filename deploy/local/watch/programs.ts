import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type BuildFailure, context, formatMessages, type OutputFile } from 'esbuild';
import { buildOptions, copyAssets, NODE_FLAGS } from '../../image/bundle.ts';

const PROGRAM = /(?:^|\/)services\/([^/]+)\/main\.js$/;

export type Programs = {
  /** The arguments of Node for a service. */
  argsOf: (service: string) => string[];
  /**
   * Builds again after files have changed.
   * @returns the services whose program is another one, or which read a file that is another one
   * @throws with the place of each mistake if the sources cannot be built. Nothing is written then
   */
  rebuild: (files: readonly string[]) => Promise<Set<string>>;
  dispose: () => Promise<void>;
};

/** The programs of all services in a folder of their own. @throws if they cannot be built */
export const createPrograms = async (root: string, print: (line: string) => void): Promise<Programs> => {
  const folder = path.join(root, '.local/dev');
  const building = await context({ ...buildOptions(folder, [], root), logLevel: 'silent', write: false });
  const hashes = new Map<string, string>();

  /** Writes what has changed. Older chunks stay, because processes may load them yet. */
  const write = (files: readonly OutputFile[]): string[] => {
    const changed = files.filter(({ path: file, hash }) => hashes.get(file) !== hash);
    for (const { path: file, hash, contents } of changed) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, contents);
      hashes.set(file, hash);
    }
    return changed.flatMap(({ path: file }) => PROGRAM.exec(file)?.[1] ?? []);
  };
  const build = async (): Promise<string[]> => {
    const { outputFiles } = await building.rebuild().catch(async (error: BuildFailure) => {
      const lines = await formatMessages(error.errors, { kind: 'error', color: process.stdout.isTTY });
      throw new Error(lines.join('').trimEnd());
    });
    return write(outputFiles);
  };

  /** Copies a file that programs read. @returns the service that must start again for it */
  const copied = (file: string): string[] => {
    const [source, target] = [path.join(root, file), path.join(folder, file)];
    if (!existsSync(target) || !existsSync(source)) return [];
    cpSync(source, target);
    if (file.endsWith('.sql')) print(`${file}: migrations run at the next start`);
    return file.endsWith('.lua') ? [file.split('/')[1]!] : [];
  };

  await build();
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }\n');
  copyAssets(folder, root);
  return {
    argsOf: (service) => [...NODE_FLAGS, path.join(folder, 'services', service, 'main.js')],
    rebuild: async (files) => {
      const changed = await build().catch((error: Error) => {
        throw new Error(`${error.message}\nThe services run on as they were.`);
      });
      return new Set([...changed, ...files.flatMap(copied)]);
    },
    dispose: () => building.dispose(),
  };
};
