/** A text, or the name of the variable from which the server reads it at its start. */
type Text = string | { variable: string };

type Rights = { publish: readonly string[]; subscribe: readonly string[] };

export type NatsUser = {
  /** The public keys that log in as this user: two while one replaces the other. */
  nkeys: readonly string[];
  /**
   * Subjects that this user may publish and subscribe to, or the name of such rights in
   * `rightsConf`; absent: all of its account.
   */
  rights?: Rights | string;
};

/** An environment. Other accounts do not see what its account publishes. */
export type NatsAccount = { name: string; users: readonly NatsUser[] };

export type NatsConf = {
  host: string;
  port: number;
  storeDir: string;
  /** Default 32GB. */
  maxFileStore?: string;
  /** The accounts, or the name of the file beside this one that has them (`accountsConf`). */
  accounts: readonly NatsAccount[] | string;
  /**
   * Files of the server's certificate and its key. Clients then have to use TLS. The servers of a
   * cluster do, too, and verify each other by the authority.
   */
  tls?: { certFile: string; keyFile: string; caFile?: string } | undefined;
  /** The port of the page with the server's state. */
  monitorPort?: number;
  serverName?: Text;
  /**
   * The servers that share the streams. Each one has the URLs of all, including its own, with the
   * login.
   */
  cluster?: {
    name: string;
    port: number;
    routes: readonly Text[];
    login: { user: string; password: Text };
  };
};

/**
 * The configuration file of nats-server with JetStream. Without accounts, every client has all
 * rights.
 *
 * There is no `allow_responses`: with it, a client that may use a single subject could publish into
 * the work queue by a reply.
 */
export function natsConf(conf: NatsConf): string {
  const { host, port, storeDir, accounts, tls, monitorPort, serverName, cluster } = conf;
  return [
    `host: ${quoted(host)}`,
    `port: ${port}`,
    ...(monitorPort === undefined ? [] : [`http: ${quoted(`${host}:${monitorPort}`)}`]),
    ...(serverName === undefined ? [] : [`server_name: ${text(serverName)}`]),
    // A wallet backup is the largest message. No message of ours comes close to this limit.
    'max_payload: 1MB',
    // Streams reserve their maximum size in advance, 6 GB per environment.
    `jetstream { store_dir: ${quoted(storeDir)}, max_memory_store: 64MB, max_file_store: ${conf.maxFileStore ?? '32GB'} }`,
    ...(tls === undefined ? [] : [tlsLine(tls)]),
    ...(cluster === undefined ? [] : clusterLines(host, cluster, tls)),
    ...(typeof accounts === 'string' ? [`include ${accounts}`] : accountsLines(accounts)),
    '',
  ].join('\n');
}

/**
 * The file with the accounts of an installation. Its users have the rights of the release by their
 * names in the other file, so a new release needs no new list of keys, and a new key no release.
 */
export function accountsConf(rightsFile: string, accounts: readonly NatsAccount[]): string {
  return [`include ${rightsFile}`, ...accountsLines(accounts), ''].join('\n');
}

/** Rights by their names. The server refuses a file with rights that no user has. */
export function rightsConf(rights: Readonly<Record<string, Rights>>): string {
  return Object.entries(rights)
    .flatMap(([name, { publish, subscribe }]) => [
      `${name} {`,
      `  publish: ${only(publish)}`,
      `  subscribe: ${only(subscribe)}`,
      '}',
    ])
    .concat('')
    .join('\n');
}

function accountsLines(accounts: readonly NatsAccount[]): string[] {
  return accounts.length === 0 ? [] : ['accounts {', ...accounts.flatMap(accountLines), '}'];
}

function tlsLine({ certFile, keyFile, caFile }: NonNullable<NatsConf['tls']>): string {
  const files = { cert_file: certFile, key_file: keyFile, ...(caFile && { ca_file: caFile }) };
  const fields = Object.entries(files).map(([name, file]) => `${name}: ${quoted(file)}`);
  return `tls { ${fields.join(', ')} }`;
}

function clusterLines(
  host: string,
  { name, port, routes, login }: NonNullable<NatsConf['cluster']>,
  tls: NatsConf['tls'],
): string[] {
  return [
    'cluster {',
    `  name: ${quoted(name)}`,
    `  listen: ${quoted(`${host}:${port}`)}`,
    `  authorization { user: ${quoted(login.user)}, password: ${text(login.password)} }`,
    ...(tls === undefined ? [] : [`  ${tlsLine(tls)}`]),
    // Clients use one name for the servers, because the addresses of pods change.
    '  no_advertise: true',
    '  routes: [',
    ...routes.map((route) => `    ${text(route)}`),
    '  ]',
    '}',
  ];
}

function accountLines({ name, users }: NatsAccount): string[] {
  return [
    `  ${name} {`,
    '    jetstream: enabled',
    '    users: [',
    ...users.flatMap(userLines),
    '    ]',
    '  }',
  ];
}

/** The lines of a user, one key after the other. */
export function userLines({ nkeys, rights }: NatsUser): string[] {
  return nkeys.flatMap((nkey) => {
    if (rights === undefined) return [`      { nkey: ${nkey} }`];
    if (typeof rights === 'string') return [`      { nkey: ${nkey}, permissions: $${rights} }`];
    return [
      `      { nkey: ${nkey}, permissions: {`,
      `        publish: ${only(rights.publish)}`,
      `        subscribe: ${only(rights.subscribe)}`,
      '      } }',
    ];
  });
}

/** An empty allow list would allow everything. */
function only(subjects: readonly string[]): string {
  return subjects.length === 0 ? '{ deny: ">" }' : `{ allow: [${subjects.map(quoted).join(', ')}] }`;
}

function text(value: Text): string {
  return typeof value === 'string' ? quoted(value) : `$${value.variable}`;
}

function quoted(value: string): string {
  return JSON.stringify(value);
}
