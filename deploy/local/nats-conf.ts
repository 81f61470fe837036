export type NatsUser = {
  user: string;
  password: string;
  /** Subjects this user may publish and subscribe to; absent: all of its account. */
  rights?: { publish: readonly string[]; subscribe: readonly string[] };
};

/** An environment: what one account publishes, no other sees. */
export type NatsAccount = { name: string; users: readonly NatsUser[] };

export type NatsConf = { host: string; port: number; storeDir: string; accounts: readonly NatsAccount[] };

/**
 * The configuration file of nats-server with JetStream. Without accounts, everybody may do everything.
 *
 * There is no `allow_responses`: a client allowed a single subject could reply its way into the work
 * queue through it. User names must differ between accounts (the server refuses them otherwise), hence
 * `natsUserName`.
 */
export function natsConf({ host, port, storeDir, accounts }: NatsConf): string {
  return [
    `host: ${quoted(host)}`,
    `port: ${port}`,
    // A wallet backup is the largest thing that travels; nothing of ours comes near this.
    'max_payload: 1MB',
    // Streams reserve their largest size in advance, 6 GB an environment.
    `jetstream { store_dir: ${quoted(storeDir)}, max_memory_store: 64MB, max_file_store: 32GB }`,
    ...(accounts.length === 0 ? [] : ['accounts {', ...accounts.flatMap(accountLines), '}']),
    '',
  ].join('\n');
}

/** The name under which a service of an environment connects, `test-settlement`. */
export function natsUserName(environment: string, service: string): string {
  return `${environment}-${service}`;
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
  const credentials = `user: ${quoted(user)}, password: ${quoted(password)}`;
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

function quoted(text: string): string {
  return JSON.stringify(text);
}
