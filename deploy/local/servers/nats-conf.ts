/** A text, or the name of the variable from which the server reads it at its start. */
type Text = string | { variable: string };

export type NatsUser = {
  user: string;
  password: Text;
  /** Subjects that this user may publish and subscribe to; absent: all of its account. */
  rights?: { publish: readonly string[]; subscribe: readonly string[] };
};

/** An environment. Other accounts do not see what its account publishes. */
export type NatsAccount = { name: string; users: readonly NatsUser[] };

export type NatsConf = {
  host: string;
  port: number;
  storeDir: string;
  /** Default 32GB. */
  maxFileStore?: string;
  accounts: readonly NatsAccount[];
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
 * the work queue by a reply. User names must differ between accounts, because the server refuses
 * equal names. `natsUserName` makes them.
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
    ...(accounts.length === 0 ? [] : ['accounts {', ...accounts.flatMap(accountLines), '}']),
    '',
  ].join('\n');
}

/** The name under which a service of an environment connects, `test-settlement`. */
export function natsUserName(environment: string, service: string): string {
  return `${environment}-${service}`;
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

function userLines({ user, password, rights }: NatsUser): string[] {
  const credentials = `user: ${quoted(user)}, password: ${text(password)}`;
  if (!rights) return [`      { ${credentials} }`];
  return [
    `      { ${credentials}, permissions: {`,
    `        publish: ${only(rights.publish)}`,
    `        subscribe: ${only(rights.subscribe)}`,
    '      } }',
  ];
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
