/** A text, or the name of the variable that the server finds it in when it starts. */
type Text = string | { variable: string };

export type NatsUser = {
  user: string;
  password: Text;
  /** Subjects this user may publish and subscribe to; absent: all of its account. */
  rights?: { publish: readonly string[]; subscribe: readonly string[] };
};

/** An environment: what one account publishes, no other sees. */
export type NatsAccount = { name: string; users: readonly NatsUser[] };

export type NatsConf = {
  host: string;
  port: number;
  storeDir: string;
  /** Default 32GB. */
  maxFileStore?: string;
  accounts: readonly NatsAccount[];
  /** Of the page that says how the server is. */
  monitorPort?: number;
  serverName?: Text;
  /**
   * Servers that keep the streams together; each has the URLs of all, its own too, with the login
   * in them.
   */
  cluster?: {
    name: string;
    port: number;
    routes: readonly Text[];
    login: { user: string; password: Text };
  };
};

/**
 * The configuration file of nats-server with JetStream. Without accounts, everybody may do
 * everything.
 *
 * There is no `allow_responses`: a client allowed a single subject could reply its way into the
 * work queue through it. User names must differ between accounts (the server refuses them
 * otherwise), hence `natsUserName`.
 */
export function natsConf(conf: NatsConf): string {
  const { host, port, storeDir, accounts, monitorPort, serverName, cluster } = conf;
  return [
    `host: ${quoted(host)}`,
    `port: ${port}`,
    ...(monitorPort === undefined ? [] : [`http: ${quoted(`${host}:${monitorPort}`)}`]),
    ...(serverName === undefined ? [] : [`server_name: ${text(serverName)}`]),
    // A wallet backup is the largest thing that travels; nothing of ours comes near this.
    'max_payload: 1MB',
    // Streams reserve their largest size in advance, 6 GB an environment.
    `jetstream { store_dir: ${quoted(storeDir)}, max_memory_store: 64MB, max_file_store: ${conf.maxFileStore ?? '32GB'} }`,
    ...(cluster === undefined ? [] : clusterLines(host, cluster)),
    ...(accounts.length === 0 ? [] : ['accounts {', ...accounts.flatMap(accountLines), '}']),
    '',
  ].join('\n');
}

/** The name under which a service of an environment connects, `test-settlement`. */
export function natsUserName(environment: string, service: string): string {
  return `${environment}-${service}`;
}

function clusterLines(
  host: string,
  { name, port, routes, login }: NonNullable<NatsConf['cluster']>,
): string[] {
  return [
    'cluster {',
    `  name: ${quoted(name)}`,
    `  listen: ${quoted(`${host}:${port}`)}`,
    `  authorization { user: ${quoted(login.user)}, password: ${text(login.password)} }`,
    // Clients know the servers by one name; the addresses of pods pass.
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
