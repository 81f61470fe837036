import { expect, test } from '@jest/globals';
import { prettyLine } from './pretty-line.ts';

const plain = (line: object) => prettyLine(`${JSON.stringify(line)}\n`, { colour: false });
const AT = Date.UTC(2026, 10, 23, 9, 5, 7, 40);

test.each([
  [
    'a call',
    { level: 30, time: AT, service: 'settlement', request_id: 'r-1', ms: 12, replayed: false, msg: 'call' },
    '09:05:07.040 INFO  settlement call request_id=r-1 ms=12 replayed=false',
  ],
  [
    'a value with spaces, which is quoted',
    { level: 40, time: AT, service: 'quote', reason: 'two words', msg: 'refused' },
    '09:05:07.040 WARN  quote refused reason="two words"',
  ],
  [
    'a null, which is left out, and an object',
    { level: 30, time: AT, service: 'gateway', route: null, at: { port: 3 }, msg: 'ready' },
    '09:05:07.040 INFO  gateway ready at={"port":3}',
  ],
  [
    'an error with its stack below the line',
    {
      level: 50,
      time: AT,
      service: 'quote',
      err: { message: 'no', stack: 'Error: no\n    at a' },
      msg: 'failed',
    },
    '09:05:07.040 ERROR quote failed\n    Error: no\n        at a',
  ],
  [
    'an error without a stack',
    { level: 40, time: AT, service: 'quote', err: { type: 'Error', message: 'no answer' }, msg: 'failed' },
    '09:05:07.040 WARN  quote failed\n    no answer',
  ],
  [
    'control characters, which could change the terminal',
    { level: 30, time: AT, service: 'quote', subject: 'a\u001b[2Jb', msg: 'c\nd' },
    '09:05:07.040 INFO  quote c·d subject=a·[2Jb',
  ],
])('shows %s', (_what, line, expected) => {
  expect(plain(line)).toBe(expected);
});

test('a text that is not a JSON object stays as it is', () => {
  expect(prettyLine('panic: out of memory\n', { colour: true })).toBe('panic: out of memory');
  expect(prettyLine('12\n', { colour: true })).toBe('12');
});

test('colours are added only where they are asked for', () => {
  const text = JSON.stringify({ level: 50, time: AT, service: 'quote', msg: 'failed' });
  expect(prettyLine(text, { colour: true })).toContain('\u001b[31mERROR\u001b[0m');
  expect(prettyLine(text, { colour: false })).not.toContain('\u001b');
});
