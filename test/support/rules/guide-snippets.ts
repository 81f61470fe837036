import { spawn } from 'node:child_process';
import { closeSync, globSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The code of the guides, and a shell that runs it as a reader does. */

const root = path.resolve(import.meta.dirname, '../../..');

export type Snippet = { guide: string; language: string; code: string };

/** The fenced code of documents, in order. `guide` is the name of the document without `.md`. */
export const snippetsIn = (files: readonly string[]): Snippet[] =>
  files.flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
      ([, language, code]) => ({ guide: path.basename(file, '.md'), language: language!, code: code! }),
    ),
  );

/** The fenced code of every guide, in order. */
export const guideSnippets = (): Snippet[] => snippetsIn(globSync('docs/guides/*.md', { cwd: root }).sort());

/** The file of a program: the name in its first line, or one of its own. */
export const fileOf = (
  { guide, language, code }: Snippet,
  index: number,
): { name: string; named: boolean } => {
  const name = /^(?:\/\/|#) ([\w./-]+\.(?:ts|py))\b.*\n/.exec(code)?.[1];
  const extension = language === 'python' ? 'py' : 'ts';
  return { name: name ?? `${guide}-${index}.${extension}`, named: name !== undefined };
};

/** The ports of the API and the operations of a gate, as guides write them. */
export const gateValues = async (ports: { any: () => Promise<number> }): Promise<[string, string][]> => {
  const [upstream, operations] = [await ports.any(), await ports.any()];
  return [
    ['127.0.0.1:9000', `127.0.0.1:${upstream}`],
    ['"127.0.0.1", 9000', `"127.0.0.1", ${upstream}`],
    ['listen(9000', `listen(${upstream}`],
    ['--port 9000', `--port ${upstream}`],
    ['127.0.0.1:9402', `127.0.0.1:${operations}`],
  ];
};

/**
 * Puts the values of the test in the place of those that a reader has to replace. A line that
 * assigns a placeholder is dropped, because the variable has its value already.
 * @throws Error if a placeholder remains
 */
export const withValues = (
  code: string,
  values: readonly (readonly [string, string])[],
  env: NodeJS.Dict<string>,
): string => {
  const filled = values.reduce((text, [placeholder, value]) => text.replaceAll(placeholder, value), code);
  const kept = filled.split('\n').filter((line) => {
    const name = /^export (\w+)=\S*…$/.exec(line)?.[1];
    return name === undefined || env[name] === undefined;
  });
  const left = kept.find((line) => !/^\s*(#|\/\/)/.test(line) && line.includes('…'));
  if (left !== undefined) throw new Error(`a placeholder without a value: ${left}`);
  return kept.join('\n');
};

/**
 * Commands by which a reader starts packages, which are not published: `node`, `quittance`, and
 * `npx` for the packages of this project.
 * @param programs the file of each command that `npx` starts
 */
export const installCommands = (
  bin: string,
  programs: { cli: string; gate: string; python?: string | undefined },
): void => {
  mkdirSync(bin);
  const node = `'${process.execPath}'`;
  const commands = {
    node: `exec ${node} "$@"`,
    quittance: `exec ${node} '${programs.cli}' "$@"`,
    ...(programs.python !== undefined && { python3: `exec '${programs.python}' "$@"` }),
    npx: `command="$1 $2"; shift 2
case $command in
  '--no-install quittance') exec ${node} '${programs.cli}' "$@" ;;
  '--no-install quittance-gate') exec ${node} '${programs.gate}' "$@" ;;
esac
exit 64`,
  };
  for (const [name, text] of Object.entries(commands))
    writeFileSync(path.join(bin, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
};

/**
 * A shell in a folder. Variables that a command sets are there for the next one, and background
 * processes stay until `stop`.
 */
export const createShell = (folder: string, name: string, env: NodeJS.Dict<string>) => {
  const log = path.join(folder, `${name}.log`);
  const state = path.join(folder, `${name}.env`);
  const groups: number[] = [];
  let variables = env;
  writeFileSync(log, '');
  const output = () => readFileSync(log, 'utf8');
  return {
    variables: () => variables,
    output,
    /** @throws Error with the output if a command fails */
    run: async (code: string): Promise<void> => {
      const out = openSync(log, 'a');
      const script = `set -aeo pipefail\n${code}\nenv -0 > '${state}'\n`;
      const child = spawn('bash', ['-c', script], {
        cwd: folder,
        env: variables,
        detached: true,
        stdio: ['ignore', out, out],
      });
      closeSync(out);
      groups.push(child.pid!);
      const status = await new Promise((resolve) => child.once('exit', resolve));
      if (status !== 0) throw new Error(`ended with ${status}: ${code}\n${output()}`);
      variables = Object.fromEntries(
        readFileSync(state, 'utf8')
          .split('\0')
          .filter((pair) => pair !== '')
          .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
      );
    },
    stop: (): void => {
      for (const group of groups)
        try {
          process.kill(-group, 'SIGKILL');
        } catch {
          // All processes of the group have ended.
        }
    },
  };
};
