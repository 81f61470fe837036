import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { errorLines, openLog, readable } from './logs.ts';

test('serious lines are reported once and completely, and harmless lines are left out', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'logs-'));
  const log = openLog(folder, 'quote');
  appendFileSync(
    log.file,
    '{"level":30,"msg":"fine"}\n{"level":50,"msg":"bad é"}\nFATAL:  no such role\n{"level":60,',
  );
  expect(log.seriousLines()).toEqual(['{"level":50,"msg":"bad é"}', 'FATAL:  no such role']);
  appendFileSync(log.file, '"msg":"worse"}\nFATAL:  the database system is starting up\n');
  appendFileSync(log.file, 'FATAL:  terminating connection due to unexpected postmaster exit\n');
  expect(log.seriousLines()).toEqual(['{"level":60,"msg":"worse"}']);
  expect(log.seriousLines()).toEqual([]);

  log.mark();
  expect(log.lastLines(5)).toEqual([]);
  appendFileSync(log.file, 'one\ntwo\nthree\n');
  expect(log.lastLines(2)).toEqual(['two', 'three']);
  log.close();

  openLog(folder, 'quote').close();
  expect(readFileSync(`${log.file}.1`, 'utf8')).toContain('three');
  rmSync(folder, { recursive: true });
});

test.each([
  [
    'an error and what follows',
    ['started', 'TypeError: no', '    at a', '    at b'],
    ['TypeError: no', '    at a'],
  ],
  ['the configuration', ['config: PORT: must be a number'], ['config: PORT: must be a number']],
  ['the end, when nothing is named', ['a', 'b', 'c'], ['b', 'c']],
])('the report of a crash shows %s', (_what, output, expected) => {
  expect(errorLines(output, 2)).toEqual(expected);
});

test.each([
  ['{"level":50,"msg":"failed","err":{"message":"no route"}}', 'failed: no route'],
  ['{"level":50,"msg":"same","err":{"message":"same"}}', 'same'],
  ['plain text', 'plain text'],
])('%s is shown as %s', (line, expected) => {
  expect(readable(line)).toBe(expected);
});
