import { cpSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { createConsumer, createVendor } from '../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../deploy/local/seed/api.ts';
import { programsOf } from '../faults/versions/build.ts';
import { waitFor } from '../support/base/wait.ts';
import { payAndReadBack } from './payment.ts';
import { allHealthy, compose, docker, folder, installation, services } from './running.ts';

/**
 * The short form of `npm run prove -- faults --versions` with containers: each service gets the
 * image of the next version while payments are made, then all but settlement go back.
 */
const NEXT = 'quittance:next';
const JOBS = ['migrate', 'setup-bus'];
const names = Object.keys(services).filter(
  (name) => services[name]!.image === 'quittance:local' && !JOBS.includes(name),
);

/** The image of the next version: this one with other programs. */
const buildNext = async (): Promise<void> => {
  const dockerfile = path.join(folder, '.local/next.dockerfile');
  writeFileSync(
    dockerfile,
    'FROM quittance:local\nCOPY services services\nCOPY chunks chunks\nCOPY shared shared\n',
  );
  // An unpacked engine sees no other folder.
  const context = path.join(folder, '.local/next');
  cpSync(await programsOf('next'), context, { recursive: true });
  await docker('build', '--tag', NEXT, '--file', dockerfile, context);
};

/** The Compose file in which all services have that image. */
const nextFile = (): string => {
  const file = path.join(folder, '.local/next.yaml');
  const images = [...names, ...JOBS].map((name) => `  ${name}: { image: "${NEXT}" }\n`);
  writeFileSync(file, `services:\n${images.join('')}`);
  return file;
};

const replace = (name: string, ...files: string[]): Promise<string> =>
  compose(...files, 'up', '--detach', '--no-deps', '--no-build', '--wait', name);

/**
 * Calls are repeated while their service is replaced. Every other refusal is noted: nothing that
 * one version writes may be wrong for the other.
 */
const noting = (refused: string[]): Api => {
  const api = createApi(installation.gateway_url);
  return (call, options) =>
    waitFor(
      async () => {
        const answer = await api<never>(call, options).catch(() => null);
        if (answer !== null && answer.status >= 400 && answer.status !== 503)
          refused.push(`${call}: ${answer.status} ${JSON.stringify(answer.body)}`);
        return answer;
      },
      (answer) => answer !== null && answer.status !== 503,
      180_000,
      200,
    ) as never;
};

test('while services of two versions run, no call is refused and each payment is on chain', async () => {
  await buildNext();
  const refused: string[] = [];
  const api = noting(refused);
  // Small payments, so that the money lasts.
  const vendor = await createVendor(api, installation, { price: 50_000n });
  const consumer = await createConsumer(api, installation);
  const versionOf = async () => (await must(api<{ version: string }>('GET /v1/health'), 'health')).version;
  const before = await versionOf();
  const made = { upgraded: 0, back: 0 };
  let step: keyof typeof made | null = 'upgraded';
  const pay = async (): Promise<void> => {
    for (let now: typeof step = step; now !== null; now = step) {
      await payAndReadBack(installation, { api, vendor, consumer });
      made[now] += 1;
    }
  };
  const replaceAll = async (): Promise<void> => {
    const next = ['--file', nextFile()];
    await compose(...next, 'run', '--rm', '--no-deps', 'migrate');
    for (const name of names) await replace(name, ...next);
    expect(await versionOf()).not.toBe(before);
    step = 'back';
    for (const name of names.filter((each) => each !== 'settlement').reverse()) await replace(name);
    expect(await versionOf()).toBe(before);
    await waitFor(
      async () => made.back,
      (payments) => payments > 0,
      180_000,
      200,
    );
    step = null;
  };
  await Promise.all([pay(), replaceAll()]);
  await replace('settlement');
  await allHealthy();
  console.info(`${made.upgraded} payments during the upgrade, ${made.back} during the way back`);
  expect(refused).toEqual([]);
  expect(made.upgraded).toBeGreaterThan(0);
}, 600_000);
