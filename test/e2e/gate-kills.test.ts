import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { connectDatabases } from '../../deploy/local/servers/every-database.ts';
import { rpcAt } from '../faults/access.ts';
import { judgeAttacks } from '../faults/gate/attack-invariants.ts';
import { attackLines } from '../faults/gate/attack-report.ts';
import { type Attackers, type NextAttack, startAttackers, type Wanted } from '../faults/gate/attackers.ts';
import { FORMS } from '../faults/gate/attacks.ts';
import { judgeGate } from '../faults/gate/invariants.ts';
import { KINDS, type Kind, type Point, pointName, STEPS } from '../faults/gate/log.ts';
import { gateLines } from '../faults/gate/report.ts';
import { buildGate, type GateRun, type Next, startGateRun } from '../faults/gate/run.ts';
import { createRng } from '../faults/rng.ts';
import { chainOf } from '../support/servers/chain.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * The short form of `npm run prove -- faults --traffic gate` (docs/faults.md): the gate is killed
 * before each of its messages of a purchase, and it and the API behind it at each step of the API.
 */
const stack = runningStack();
const environment = stack.environments.test!;
const database = connectDatabases(stack.postgres_urls, { max: 2 });
const folder = mkdtempSync(path.join(tmpdir(), 'quittance-gate-kills-'));
/** A purchase has fewer messages. */
const MOST_MESSAGES = 30;
const RECOVERY_MS = 240_000;

/** By attacker, one after the other: every form of every ware, and every mishap. */
const ATTACKS: readonly Omit<Wanted, 'rng'>[][] = [
  [
    { ware: 'tab', mishap: { kind: 'none' }, forms: FORMS },
    { ware: 'tab', mishap: { kind: 'dies unrecorded' }, forms: ['plain'] },
  ],
  [
    { ware: 'again', mishap: { kind: 'none' }, forms: FORMS.filter((form) => form !== 'repeats') },
    { ware: 'again', mishap: { kind: 'dies', victim: 'gate', at: 'first byte' }, forms: ['plain', 'plain'] },
  ],
  [
    { ware: 'fixed', mishap: { kind: 'reports refused', status: 503, forMs: 3000 }, forms: FORMS },
    { ware: 'fixed', mishap: { kind: 'dies', victim: 'upstream', at: 'working' }, forms: ['plain'] },
  ],
  FORMS.filter((form) => form !== 'stalls').map((form) => ({
    ...{ ware: 'goods', mishap: { kind: 'none' }, forms: [form] },
  })),
];

let run: GateRun;
let attackers: Attackers;
/** They have gates of their own, and work while the others buy. */
let attacking: Promise<void> | undefined;
const attacksOf = (attacker: number): NextAttack => {
  const left = [...ATTACKS[attacker]!];
  return () => {
    const wanted = left.shift();
    return wanted === undefined ? null : { ...wanted, rng: createRng(attacker).fork(left.length) };
  };
};
const attack = async (): Promise<void> => {
  await attackers.start(attacksOf, () => false);
  await attackers.recover(Date.now() + RECOVERY_MS);
};

beforeAll(async () => {
  const command = await buildGate(folder);
  const place = { stack, chain: chainOf(environment), rpc: rpcAt(environment.rpc_url) };
  const query = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
    (await database.query<Row>(sql, values)).rows;
  [run, attackers] = await Promise.all([
    startGateRun({ ...place, query }, command, { lanes: KINDS.length, batch: Number.POSITIVE_INFINITY }),
    startAttackers({ ...place, query }, command, ATTACKS.length),
  ]);
  attacking = attack();
  attacking.catch(() => {});
}, 300_000);
afterAll(async () => {
  await Promise.all([run?.stop(), attackers?.stop()]);
  await database.end();
  rmSync(folder, { recursive: true, force: true });
});

/** Every point of one kind. Messages end when a purchase ended before the next one. */
const everyPoint = (kind: Kind): Next => {
  const steps: Point[] = STEPS.flatMap((at) => [
    { at, victim: 'gate' as const },
    { at, victim: 'upstream' as const },
  ]);
  let message = -1;
  return (wasKilled) => {
    if (message < 0 || (wasKilled && message < MOST_MESSAGES)) {
      message += 1;
      return { kind, point: { at: message, when: 'before', victim: 'gate' } };
    }
    message = MOST_MESSAGES;
    const point = steps.shift();
    return point === undefined ? null : { kind, point };
  };
};

test('whenever a process dies, every buyer ends with the goods, or with the money', async () => {
  await run.start(
    (lane) => everyPoint(KINDS[lane]!),
    () => false,
  );
  await run.recover(Date.now() + RECOVERY_MS);
  const of = await run.readCase();
  expect({ breaks: judgeGate(of), lines: gateLines(of) }).toMatchObject({ breaks: [] });
  const killed = run.log.purchases.filter(({ killedAt }) => killedAt !== null);
  for (const kind of KINDS) {
    const atMessages = killed.filter((each) => each.kind === kind && 'when' in each.point!);
    expect([kind, atMessages.length > 5]).toEqual([kind, true]);
  }
  // The last byte may come after its purchase has ended, and a busy platform may refuse one before.
  const atSteps = new Set(killed.map(({ point }) => pointName(point!)));
  for (const at of STEPS.slice(0, -1))
    for (const victim of ['gate', 'upstream'] as const) expect(atSteps).toContain(pointName({ at, victim }));
}, 600_000);

test('whatever form a call has, and whoever dies meanwhile, it is charged once', async () => {
  await attacking;
  const of = await attackers.readCase();
  const lines = attackLines(of);
  expect({ breaks: judgeAttacks(of), lines }).toMatchObject({ breaks: [] });
  // A busy platform may sell nothing to one, and the death of another may hide its mishap.
  const opened = of.ended.filter(({ row }) => row !== undefined).map(({ attack }) => attack);
  expect({ lines, isMost: opened.length > ATTACKS.flat().length / 2 }).toMatchObject({ isMost: true });
  expect({ lines, isMet: opened.some(({ isMet }) => isMet) }).toMatchObject({ isMet: true });
}, 600_000);
