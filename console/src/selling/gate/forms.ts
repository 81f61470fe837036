import { EXAMPLES } from '../../generated/examples.ts';
import type { Filled } from '../trying/programs.ts';
import type { Before, FileTexts, GateDraft } from './draft.ts';

/**
 * The files and commands that start a gate. The key is in none of them: they take it from the
 * environment. forms.test.ts gives them to the parsers of the gate, of Compose and of Kubernetes.
 */

const IMAGE = 'quittance-gate:0.1.0';

/** A text for a shell. */
const shell = (text: string): string =>
  /^[\w./:@=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A text for YAML. The gate reads all values as texts. */
const yaml = (text: string): string =>
  /^[\w$/][\w$./:,@ -]*$/.test(text) && !/: |:$| $/.test(text) ? text : JSON.stringify(text);

/** gate.yaml. */
export const gateYaml = ({ mode, upstream, listen, routes, unmatched, dialects }: FileTexts): string => {
  const top = Object.entries({ mode, upstream, listen }).filter(([, value]) => value !== undefined);
  const lines = routes.flatMap((route) =>
    Object.entries(route).map(([name, value], at) => {
      const text = typeof value === 'string' ? yaml(value) : `{ units: ${yaml(value.units ?? '')} }`;
      return `  ${at === 0 ? '- ' : '  '}${name}: ${text}`;
    }),
  );
  return `${[
    ...top.map(([name, value]) => `${name}: ${yaml(value!)}`),
    'routes:',
    ...lines,
    ...(unmatched === undefined ? [] : [`unmatched: ${unmatched}`]),
    ...(dialects === undefined ? [] : [`dialects: [${dialects.join(', ')}]`]),
  ].join('\n')}\n`;
};

/** Its place on a command line: those with a price, then the metered ones, then the free ones. */
const placeOf = (route: FileTexts['routes'][number]): number =>
  'max' in route ? 1 : 'free' in route ? 2 : 0;

/**
 * The options of a command line without a file. Null: a file is needed, because there is no option
 * for a setting, or because the first route that matches would be another one.
 */
const optionsOf = (texts: FileTexts): string[] | null => {
  const { mode, upstream, listen, routes, unmatched, dialects } = texts;
  const places = routes.map(placeOf);
  const isInOrder = places.every((place, at) => at === 0 || place >= places[at - 1]!);
  if (!isInOrder || dialects !== undefined || routes.some((route) => 'prepaid' in route)) return null;
  return [
    mode === undefined ? `--upstream ${shell(upstream ?? '')}` : '--authorize',
    ...routes.map(({ match, price, free, ...rest }) => {
      if (free !== undefined) return `--free ${shell(match)}`;
      if (!('max' in rest)) return `--price ${shell(`${match}=${String(price)}`)}`;
      const named = Object.entries({ ...rest, ...(price !== undefined && { price }) });
      return `--metered ${shell([match, ...named.map(([name, value]) => `${name}=${String(value)}`)].join(' '))}`;
    }),
    ...(unmatched === undefined ? [] : ['--refuse-unmatched']),
    ...(listen === undefined ? [] : [`--listen ${shell(listen)}`]),
  ];
};

const joined = (parts: readonly string[]): string => `${parts.join(' \\\n  ')}\n`;

/** The command without a file, or null if this gate needs one. */
export const gateCommand = (texts: FileTexts): string | null => {
  const options = optionsOf(texts);
  return options && joined(['npx --no-install quittance-gate', ...options]);
};

/** The command that checks the running gate. */
export const checkCommand = (texts: FileTexts): string => {
  const options = optionsOf(texts);
  return options === null
    ? 'npx --no-install quittance-gate check gate.yaml\n'
    : joined(['npx --no-install quittance-gate check', ...options]);
};

/** What the check prints if all is right. */
export const checkOutput = ({ routes }: FileTexts, { baseUrl }: Filled): string =>
  [
    `ok     the payment API at ${baseUrl} answers`,
    ...routes
      .filter(({ free }) => free === undefined)
      .flatMap(({ match }) => [
        `ok     ${match} asks for its price`,
        `ok     ${match} has no cheaper spelling`,
        `ok     ${match} has no cheaper method`,
      ]),
  ].join('\n');

/** Until the package is published. */
export const INSTALL = `# In the repository of Quittance:
npm pack ./gate --pack-destination /tmp
# In a folder for the gate:
npm install /tmp/quittance-gate-*.tgz
`;

/** The environment of a gate. The key is typed by its vendor. */
export const environmentOf = (draft: GateDraft, { baseUrl, environment, serviceId }: Filled): string => {
  const publicUrl = draft.publicUrl.trim();
  return `${[
    `export QUITTANCE_URL=${shell(baseUrl)}`,
    `export SERVICE_ID=${shell(serviceId)}`,
    `export SERVICE_KEY=vendor_${environment}_…`,
    ...(publicUrl === '' ? [] : [`export PUBLIC_URL=${shell(publicUrl)}`]),
    ...(draft.dialects.length === 0
      ? []
      : [
          '# Keep it: every gate and every restart needs the same.',
          'export OFFER_SECRET=$(openssl rand -hex 32)',
        ]),
  ].join('\n')}\n`;
};

const namesOf = (draft: GateDraft): string[] => [
  'QUITTANCE_URL',
  'SERVICE_ID',
  'SERVICE_KEY',
  ...(draft.publicUrl.trim() === '' ? [] : ['PUBLIC_URL']),
  ...(draft.dialects.length === 0 ? [] : ['OFFER_SECRET']),
];

/** Whether an address leads to the machine itself, which is another one inside of a container. */
export const isLoopback = (address: string): boolean => {
  const { hostname = '' } = URL.parse(address) ?? {};
  return hostname === 'localhost' || hostname === '[::1]' || hostname.startsWith('127.');
};

export const portOf = (listen: string): string => /\d+$/.exec(listen.trim())?.[0] ?? '8402';
/** Inside of a container, where its port is published. */
const inside = (port: string): string[] => ['--listen', `0.0.0.0:${port}`, '--operations', '0.0.0.0:9402'];

/** The commands for a container. An address of the machine itself needs the machine's network. */
export const dockerCommands = (draft: GateDraft, { baseUrl }: Filled): string => {
  const port = portOf(draft.listen);
  const isHost = draft.before !== 'gate' || isLoopback(draft.upstream) || isLoopback(baseUrl);
  const run = [
    'docker run --rm --init',
    ...namesOf(draft).map((name) => `--env ${name}`),
    '--volume "$PWD/gate.yaml:/app/gate.yaml:ro"',
    isHost ? '--network host' : `--publish ${port}:${port}`,
    `${IMAGE} gate.yaml${isHost ? '' : ` ${inside(port).join(' ')}`}`,
  ];
  return `# In the repository of Quittance:\ndocker build --file gate/Dockerfile --tag ${IMAGE} .\n# Where gate.yaml is:\n${joined(run)}`;
};

/** compose.yaml beside gate.yaml. */
export const composeFile = (draft: GateDraft): string => {
  const port = portOf(draft.listen);
  return `# Before the first start, and the same at each other one:
#   export STORE_PASSWORD=$(openssl rand -hex 32)
services:
  gate:
    image: ${IMAGE}
    command: [gate.yaml, ${inside(port).join(', ')}]
    read_only: true
    cap_drop: [ALL]
    security_opt: ["no-new-privileges:true"]
    environment: [${namesOf(draft).join(', ')}, "STORE_URL=redis://:\${STORE_PASSWORD:?is missing}@store"]
    volumes: ["./gate.yaml:/app/gate.yaml:ro"]
    ports: ["${port}:${port}"]
    # Longer than it lets open calls end.
    stop_grace_period: 45s
    depends_on: [store]
    networks: [default, store]
  # Payments whose answer has not arrived yet: a restart must not lose them. Only the gate reaches it, because whoever
  # writes its records has deliveries for nothing.
  store:
    image: redis:8.4-alpine
    command: [redis-server, --appendonly, "yes", --requirepass, "\${STORE_PASSWORD:?is missing}"]
    volumes: ["store:/data"]
    networks: [store]
volumes:
  store:
networks:
  store: { internal: true }
`;
};

/** The Secret that the pods take their environment from. */
export const secretCommand = (draft: GateDraft): string =>
  joined([
    'kubectl create secret generic gate',
    ...namesOf(draft).map((name) => `--from-literal=${name}="$${name}"`),
    '--from-literal=STORE_URL=redis://…',
  ]);

/** The manifests: the routes, and those of examples/gate/kubernetes. */
export const kubernetesFile = (texts: FileTexts): string => {
  const { listen: _own, ...rest } = texts;
  const file = `operations: 0.0.0.0:9402\n${gateYaml({ ...rest, listen: '0.0.0.0:8402' })}`;
  const routes = file.trimEnd().replaceAll(/^/gm, '    ');
  return `apiVersion: v1
kind: ConfigMap
metadata:
  name: gate
data:
  gate.yaml: |
${routes}
---
${EXAMPLES.gateKubernetes}`;
};

type ProxyFile = { name: string; text: string };

const PROXIES: Record<Exclude<Before, 'gate'>, readonly ProxyFile[]> = {
  nginx: [{ name: 'nginx.conf', text: EXAMPLES.gateNginx }],
  caddy: [{ name: 'Caddyfile', text: EXAMPLES.gateCaddy }],
  haproxy: [
    { name: 'haproxy.cfg', text: EXAMPLES.gateHaproxy },
    { name: 'quittance-haproxy.lua', text: EXAMPLES.gateHaproxyLua },
  ],
  apache: [
    { name: 'apache.conf', text: EXAMPLES.gateApache },
    { name: 'quittance-apache.lua', text: EXAMPLES.gateApacheLua },
  ],
};

/** The files of a proxy that asks the gate, with the addresses of this vendor. */
export const proxyFiles = ({ before, upstream, listen }: GateDraft): readonly ProxyFile[] => {
  const url = URL.parse(upstream.trim());
  if (before === 'gate' || url === null) return [];
  const values: Record<string, string> = {
    'http://127.0.0.1:9000': url.origin,
    '127.0.0.1:9000': `${url.hostname}:${url.port || '80'}`,
    '8402': portOf(listen),
  };
  return PROXIES[before].map(({ name, text }) => ({
    name,
    text: text
      // The command is on the page.
      .replace(/^# {3}quittance-gate .*\n/m, '')
      .replaceAll(/(http:\/\/)?127\.0\.0\.1:9000|8402/g, (found) => values[found]!),
  }));
};
