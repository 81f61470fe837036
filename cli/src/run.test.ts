import { expect, test } from '@jest/globals';
import type { Io } from './io.ts';
import { run } from './run.ts';

/** Runs a command that sends nothing. */
const ended = async (args: readonly string[], env: Io['env'] = {}) => {
  const texts = { out: '', err: '' };
  const code = await run(args, {
    env: { XDG_CONFIG_HOME: '/nonexistent', ...env },
    readInput: async () => Buffer.alloc(0),
    out: (content) => {
      texts.out += content;
    },
    err: (text) => {
      texts.err += text;
    },
    isTerminal: false,
    isColoured: false,
    signal: new AbortController().signal,
  });
  return { code, ...texts };
};

test.each([
  [['payments'], 'quittance payments'],
  [['delegates'], 'quittance delegates'],
  [['help', 'nonsense'], 'quittance '],
])('%j has no command, so it shows its help as an error', async (args, usage) => {
  const { code, out, err } = await ended(args);
  expect([code, out]).toEqual([2, '']);
  expect(err).toContain(`Usage: ${usage}`);
});

test('a mistake is printed once', async () => {
  const { err } = await ended(['pya']);
  expect(err.match(/unknown command/g)).toHaveLength(1);
});
