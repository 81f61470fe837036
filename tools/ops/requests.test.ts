import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { opsAt } from '../../test/support/packages/ops.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'requests-'));
afterAll(() => rmSync(folder, { recursive: true }));
// Without a stack: the command reads files alone.
const ops = opsAt(path.join(folder, 'stack.json'));

const line = (time: number, service: string, fields: object) =>
  JSON.stringify({ level: 30, time, service, ...fields });
writeFileSync(
  path.join(folder, 'gateway.log'),
  [
    line(30, 'gateway', { request_id: 'r-1', trace_id: 't-1', settlement_id: 'stl_1', msg: 'request' }),
    line(10, 'gateway', { request_id: 'r-2', msg: 'request' }),
    'not JSON, names r-1',
  ].join('\n'),
);
// Collectors put the name of the container in front.
writeFileSync(
  path.join(folder, 'services.log'),
  [
    `quittance-settlement-1 | ${line(20, 'settlement', { request_id: 'r-1', msg: 'call' })}`,
    line(40, 'chain-submitter', { trace_id: 't-1', msg: 'intent failed, no money moved' }),
    line(50, 'quote', { trace_id: 't-2', reason: 'names r-1', msg: 'other' }),
  ].join('\n'),
);

test('the lines of a request and of its trace are shown in the order of time, with the payments that they name', async () => {
  const shown = await ops('request', 'show', 'r-1', '--logs', folder);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out.trimEnd().split('\n')).toEqual([
    '00:00:00.020 INFO  settlement call request_id=r-1',
    '00:00:00.030 INFO  gateway request request_id=r-1 trace_id=t-1 settlement_id=stl_1',
    '00:00:00.040 INFO  chain-submitter intent failed, no money moved trace_id=t-1',
    '',
    'npm run ops -- payment show stl_1',
  ]);
  const lines = JSON.parse((await ops('request', 'show', 'r-2', '--logs', folder, '--json')).out);
  expect(lines).toEqual([expect.objectContaining({ request_id: 'r-2', service: 'gateway' })]);
});

test('an unknown request, a wrong id and missing logs have their own messages', async () => {
  expect(await ops('request', 'show', 'r-3', '--logs', folder)).toMatchObject({
    code: 1,
    out: expect.stringContaining('{request_id="r-3"}'),
  });
  expect(await ops('request', 'show', 'a b', '--logs', folder)).toMatchObject({
    code: 64,
    err: expect.stringContaining('is not a request id'),
  });
  expect(await ops('request', 'show', 'r-1', '--logs', path.join(folder, 'none'))).toMatchObject({
    code: 64,
    err: expect.stringContaining('there are no logs at'),
  });
});
