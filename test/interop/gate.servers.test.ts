import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { askingProxies } from '../support/others/asking-proxies.ts';
import type { GateUpstream } from '../support/others/gate-upstreams.ts';
import { realServers, startRealServer } from '../support/others/real-servers.ts';
import { type Cell, linesOf, nameOf, type Place, runPlace } from '../support/others/server-matrix.ts';

/**
 * One list of forms (test/support/others/server-forms.ts) through the gate, before many servers.
 * Whatever
 * a server takes a form for, nobody gets a product without its price, or what is another's.
 */

/** Behind each proxy: paths read loosely, as a URL, as a servlet; and bodies that nobody reads. */
const BEHIND_PROXIES = ['Express', 'Hono', 'Tomcat', 'http.server'];
const AT_ONCE = 6;

const places: Place[] = [
  ...realServers.map((server) => ({ server, proxy: null })),
  ...askingProxies.flatMap((proxy) =>
    BEHIND_PROXIES.filter((each) => realServers.includes(each)).map((server) => ({ server, proxy })),
  ),
];

const servers = new Map<string, GateUpstream>();
const columns = new Map<string, Cell[]>();
const faults = new Map<string, unknown>();

beforeAll(async () => {
  await Promise.all(realServers.map(async (name) => servers.set(name, await startRealServer(name))));
  const waiting = [...places];
  const work = async () => {
    for (let place = waiting.shift(); place !== undefined; place = waiting.shift())
      try {
        columns.set(nameOf(place), await runPlace(place, servers.get(place.server)!.port));
      } catch (error) {
        faults.set(nameOf(place), error);
      }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  console.log(linesOf(columns).join('\n'));
}, 600_000);
afterAll(async () => {
  await Promise.all([...servers.values()].map((server) => server.stop()));
});

describe.each(places.map(nameOf))('%s', (name) => {
  test('gives no product without its price, and no answer to somebody else', () => {
    expect(faults.get(name)).toBeUndefined();
    const broken = columns.get(name)!.filter(({ outcome }) => outcome === 'broken');
    expect(broken.map(({ form, fault }) => `${form.family}, ${form.name}: ${fault}`)).toEqual([]);
  });
});
