import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { createPortPicker } from './ports.ts';

const PORTS = fileURLToPath(new URL('./ports.ts', import.meta.url));

/** A process that picks `count` ports, prints them and keeps them until its input ends. */
const pickElsewhere = async (count: number) => {
  const code = `
    const { createPortPicker } = await import(${JSON.stringify(PORTS)});
    const picker = createPortPicker();
    const ports = [];
    while (ports.length < ${count}) ports.push(await picker.any());
    console.log(JSON.stringify(ports));
    process.stdin.resume().on('end', () => process.exit());
  `;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code]);
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return { ports: JSON.parse(line) as number[], end: () => child.stdin.end() };
};

test('two processes get different ports at the same time', async () => {
  const both = await Promise.all([pickElsewhere(1_500), pickElsewhere(1_500)]);
  for (const one of both) one.end();
  expect(new Set(both.flatMap(({ ports }) => ports)).size).toBe(3_000);
});

test('a client that calls too early never takes the port of the server', async () => {
  const picker = createPortPicker();
  for (let count = 0; count < 20; count++) {
    const port = await picker.any();
    expect(port).toBeLessThan(32_768);
    const refused = await new Promise<unknown>((resolve) => {
      connect(port, '127.0.0.1').once('error', resolve).once('connect', resolve);
    });
    expect(refused).toMatchObject({ code: 'ECONNREFUSED' });
  }
});

test('a preferred port that another process has chosen is passed over, also before that one listens', async () => {
  const elsewhere = await pickElsewhere(1);
  const [chosen] = elsewhere.ports as [number];
  expect(await createPortPicker().from(chosen)).toBeGreaterThan(chosen);
  elsewhere.end();
});

test('a stack that starts again in the same process keeps its ports', async () => {
  const port = await createPortPicker().from(12_345);
  expect(await createPortPicker().from(port)).toBe(port);
  const pair = await createPortPicker().pairFrom(port);
  expect(await createPortPicker().pairFrom(pair)).toBe(pair);
});
