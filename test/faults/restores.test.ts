import { expect, test } from '@jest/globals';
import { externalServers } from '../support/jest/external-servers.ts';
import { testStateDir } from '../support/servers/test-state.ts';
import { runRestores } from './restores/campaign.ts';

/** The short form of `npm run prove -- faults --restores` (docs/faults.md). */
const TEST_MS = 600_000;

// Servers that the caller provides have no archive.
const own = Object.keys(externalServers).length === 0 ? test : test.skip;

own(
  'after a restore to the middle of payments nothing is paid twice and nothing is denied that was paid',
  async () => {
    const lines: string[] = [];
    const { restores, lost, attempts, ...breaks } = await runRestores({
      stateDir: testStateDir('restores'),
      seed: 20_261_130,
      handlings: ['nothing', 'finish'],
      print: (line) => lines.push(line),
    });
    expect({ ...breaks, progress: lines }).toEqual({
      ...{ doubled: [], untrue: [], invented: [], open: [] },
      progress: lines,
    });
    expect(restores).toBe(2);
    expect(attempts).toBeGreaterThan(10);
    // Otherwise there was nothing to find.
    expect(lost).toBeGreaterThan(0);
  },
  TEST_MS,
);
