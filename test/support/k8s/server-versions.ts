/**
 * The versions of the servers that the tests run, and those that the manifests ship. Where they
 * differ, what the product does not use of the newer one, because the older one has not got it, and
 * what it uses in a way that both have.
 */
type ServerVersions = {
  /** The image of the manifests, without its tag. */
  image: string;
  shipped: string;
  /** Versions of other packages that run the tests: of the machine, and of the containers. */
  tested: Readonly<Record<string, string>>;
  differences: readonly string[];
};

export const SERVER_VERSIONS: Readonly<Record<'nats-server' | 'redis-server', ServerVersions>> = {
  'nats-server': {
    image: 'nats',
    shipped: '2.12',
    tested: { '2.9': 'Debian 12: all tests', '2.10': 'Debian 13: npm run prove -- containers' },
    differences: [
      '2.9 refuses a back-off list with an unlimited max_deliver: handlers delay by nak (shared/bus/setup.ts)',
      '2.9 filters a consumer by one subject: there is one for each event (shared/bus/topology.ts)',
      '2.9 has no priority groups: lanes are addressed by subject, and pack calls and outcomes too (ADR 70)',
    ],
  },
  'redis-server': {
    image: 'redis',
    shipped: '8.2',
    tested: { '7.0': 'Debian 12: all tests', '8.0': 'Debian 13: npm run prove -- containers' },
    differences: [
      'none that the product uses: scripts, sorted sets, lists, streams, expiry and volatile-ttl are the same in both',
    ],
  },
};
