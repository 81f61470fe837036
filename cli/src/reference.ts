import type { Command } from 'commander';
import type { Io } from './io.ts';
import { createProgram, VARIABLES } from './program.ts';
import { EXIT_CODES } from './text/exit-codes.ts';

/** The reference of all commands in the README, from the commands themselves. */

const BEGIN = '<!-- reference: begin (node cli/build.ts --readme) -->';
const END = '<!-- reference: end -->';

/** A program that is only read. */
export const NO_IO: Io = {
  env: {},
  readInput: async () => Buffer.alloc(0),
  out: () => {},
  err: () => {},
  isTerminal: false,
  isColoured: false,
  signal: new AbortController().signal,
};

/** All commands that do something, as `quittance delegates create`. */
export const leaves = (command: Command, path: readonly string[] = []): (readonly [string, Command])[] => {
  const here = [...path, command.name()];
  return command.commands.length === 0
    ? [[here.join(' '), command]]
    : command.commands.flatMap((each) => leaves(each, here));
};

const helpOf = (command: Command): string =>
  command
    .helpInformation()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .trim();

const table = (headings: readonly string[], rows: readonly (readonly string[])[]): string =>
  [headings, headings.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');

const reference = (): string => {
  const program = createProgram(NO_IO);
  return [
    '### Exit codes',
    table(
      ['Code', 'Meaning'],
      Object.values(EXIT_CODES).map(([code, meaning]) => [String(code), meaning]),
    ),
    '### Environment variables',
    table(
      ['Name', 'Meaning'],
      VARIABLES.map(([name, meaning]) => [`\`${name}\``, meaning]),
    ),
    '### Commands',
    `\`\`\`text\n${helpOf(program)}\n\`\`\``,
    ...leaves(program).flatMap(([name, command]) => [
      `#### ${name}`,
      `\`\`\`text\n${helpOf(command)}\n\`\`\``,
    ]),
  ].join('\n\n');
};

/** A README with the present reference between its two marks. */
export const withReference = (readme: string): string => {
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('the README has no marks of the reference');
  return `${readme.slice(0, begin)}${BEGIN}\n\n${reference()}\n\n${readme.slice(end)}`;
};
