import { expect, test } from '@jest/globals';
import { formatRecoveryCode, isGroup, parseRecoveryCode } from './recovery-code.ts';

const bytes = Uint8Array.from({ length: 16 }, (_, at) => at * 16 + 1);

test('a code is read as it was written, and as a person copies it', async () => {
  for (const some of [bytes, new Uint8Array(16), new Uint8Array(16).fill(255)]) {
    const code = await formatRecoveryCode(some);
    expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){6}[0-9A-HJKMNP-TV-Z]{4}$/);
    for (const typed of [
      code,
      code.toLowerCase(),
      code.replaceAll('-', ' '),
      ` ${code.replaceAll('-', '')} `,
    ])
      expect(await parseRecoveryCode(typed)).toEqual(some);
    expect(await parseRecoveryCode(code.replaceAll('0', 'O').replaceAll('1', 'l'))).toEqual(some);
  }
});

test('a typing error is detected: any character replaced, two swapped, one missing', async () => {
  const code = await formatRecoveryCode(bytes);
  const slips = [...code].flatMap((each, at) =>
    each === '-' ? [] : [code.slice(0, at) + (each === 'X' ? 'Y' : 'X') + code.slice(at + 1)],
  );
  // With twelve check bits, one error of 4096 would pass. None of these passes.
  for (const slip of [...slips, code.slice(1), `${code}0`, '', 'U'.repeat(28)])
    expect([slip, await parseRecoveryCode(slip)]).toEqual([slip, null]);
});

test('a group is asked for by its place', async () => {
  const code = await formatRecoveryCode(bytes);
  expect(isGroup(code, 2, ` ${code.split('-')[2]!.toLowerCase()}`)).toBe(true);
  expect(isGroup(code, 2, code.split('-')[3]!)).toBe(false);
  expect(isGroup(code, 2, '')).toBe(false);
});
