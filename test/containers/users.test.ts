import { expect, test } from '@jest/globals';
import { containerOf, inspect, nodeIn, services } from './running.ts';

/**
 * Proves that our containers run as user 10001 without capabilities on a read-only root, by what
 * the kernel says of their first process and not only by the engine's configuration.
 */
const OUR_USER = '10001';
const ours = Object.keys(services).filter((name) => services[name]!.image.startsWith('quittance'));
const JOBS = ['migrate', 'setup-bus', 'seed'];
const running = ours.filter((name) => !JOBS.includes(name));

test.each(ours)(
  '%s is created as user 10001 with a read-only root and without capabilities',
  async (name) => {
    const { Config, HostConfig } = await inspect(await containerOf(name));
    expect({ user: Config.User, ...HostConfig }).toMatchObject({
      user: '10001:10001',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      Privileged: false,
    });
  },
);

/** The fields of /proc/1/status that the kernel enforces, and which files can be written. */
const SCRIPT = `
  import { readFileSync, writeFileSync } from 'node:fs';
  const status = Object.fromEntries(
    readFileSync('/proc/1/status', 'utf8').split('\\n').map((line) => line.split(':\\t')),
  );
  const { Uid, Gid, CapEff, CapPrm, CapBnd, NoNewPrivs } = status;
  const writing = ['/x', '/app/x', '/tmp/x'].map((file) => {
    try { writeFileSync(file, ''); return file + ' written'; } catch ({ code }) { return file + ' ' + code; }
  });
  console.log(JSON.stringify({ Uid, Gid, CapEff, CapPrm, CapBnd, NoNewPrivs, writing }));
`;

test.each(running)('%s has no capability, cannot get one, and writes only to /tmp', async (name) => {
  const ids = [OUR_USER, OUR_USER, OUR_USER, OUR_USER].join('\t');
  const none = '0'.repeat(16);
  expect(JSON.parse(await nodeIn(name, SCRIPT))).toEqual({
    Uid: ids,
    Gid: ids,
    CapEff: none,
    CapPrm: none,
    CapBnd: none,
    NoNewPrivs: '1',
    writing: ['/x EROFS', '/app/x EROFS', '/tmp/x written'],
  });
});
