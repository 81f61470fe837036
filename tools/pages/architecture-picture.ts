import { contractList } from '../../shared/contract/index.ts';
import { SERVICE_NAMES, type ServiceName } from '../../shared/contract/service.ts';
import { type Reach, type WorkloadName, workloads } from '../k8s/workloads.ts';

/**
 * docs/architecture.svg: who calls whom. The processes, the numbers of their operations, events and
 * jobs are those of the contract, and what each one reaches is that of its workload.
 */

const WORK: Record<ServiceName, string> = {
  quote: 'prices',
  settlement: 'payments, limits',
  wallet: 'wallets, allowances',
  funding: 'deposits, refunds',
  identity: 'accounts, keys',
  'chain-submitter': 'signs, broadcasts',
  webhook: 'events to vendors',
};
/** What is outside, by the connection that leads there. */
const OUTSIDE: Partial<Record<Reach, readonly [string, string]>> = {
  https: ['On-ramps', 'MoonPay, Coinbase'],
  smtp: ['Mail', 'SMTP server'],
  rpc: ['Solana', 'RPC providers'],
  vendors: ['Vendors', 'webhook endpoints'],
};
const CLIENTS = [
  ['Vendors', 'SDK, x402 or MPP middleware'],
  ['Buyers and agents', 'SDK, MCP server, command line'],
  ['People', 'console, docs'],
] as const;

const WIDTH = 1000;
const MARGIN = 20;
const GAP = 10;

type Box = { x: number; y: number; width: number; height: number };

const escaped = (content: string): string => content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const text = (x: number, y: number, content: string, kind = ''): string =>
  `<text x="${x}" y="${y}"${kind && ` class="${kind}"`}>${escaped(content)}</text>`;

/** A box with a title and quiet lines below it. */
const boxOf = ({ x, y, width, height }: Box, kind: string, [title, ...lines]: readonly string[]): string =>
  [
    `<rect x="${x}" y="${y}" width="${width}" height="${height}" rx="8" class="${kind}"/>`,
    text(x + width / 2, y + 23, title!, 'title'),
    ...lines.map((line, index) => text(x + width / 2, y + 42 + index * 16, line, 'quiet')),
  ].join('\n');

const arrow = (x: number, from: number, to: number): string =>
  `<path d="M${x} ${from}V${to}" class="arrow" marker-end="url(#end)"/>`;

/** Boxes of the same size from edge to edge. */
const inRow = (count: number, y: number, height: number): Box[] => {
  const width = (WIDTH - 2 * MARGIN - (count - 1) * GAP) / count;
  return Array.from({ length: count }, (_, index) => ({
    x: Math.round(MARGIN + index * (width + GAP)),
    y,
    width: Math.round(width),
    height,
  }));
};
const middle = ({ x, width }: Box): number => x + width / 2;

const count = (part: 'operations' | 'events' | 'jobs', of: readonly string[]): number =>
  contractList
    .filter(({ name }) => of.includes(name))
    .reduce((sum, contract) => sum + Object.keys(contract[part]).length, 0);
const plural = (number: number, name: string): string => `${number} ${name}${number === 1 ? '' : 's'}`;

const reachesOf = (name: WorkloadName): readonly Reach[] =>
  workloads.find((workload) => workload.name === name)!.reaches;

const STYLE = `text { font: 13px system-ui, -apple-system, 'Segoe UI', sans-serif; text-anchor: middle; fill: #1c2128; }
.title { font-weight: 600; }
.quiet { font-size: 12px; fill: #59636e; }
.client, .outside { fill: #f6f8fa; stroke: #d1d9e0; }
.gateway { fill: #ccfbf1; stroke: #0f766e; }
.service { fill: #fff; stroke: #0f766e; }
.bus { fill: #0f766e; }
.on-bus { fill: #fff; font-weight: 600; }
.arrow { stroke: #59636e; stroke-width: 1.5; fill: none; }
.end { fill: #59636e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .quiet { fill: #9198a1; }
  .client, .outside { fill: #161b22; stroke: #3d444d; }
  .gateway { fill: #134e4a; stroke: #2dd4bf; }
  .service { fill: #0d1117; stroke: #2dd4bf; }
  .on-bus { fill: #fff; }
  .arrow { stroke: #9198a1; }
  .end { fill: #9198a1; }
}`;

const servicesOf = (boxes: readonly Box[], below: number): string[] =>
  SERVICE_NAMES.flatMap((name, index) => {
    const box = boxes[index]!;
    const operations = count('operations', [name]);
    const jobs = count('jobs', [name]);
    const calls = operations > 0 ? plural(operations, 'operation') : plural(jobs, 'job');
    const reaches = reachesOf(name);
    const schema = reaches.includes('postgres') ? ['own schema'] : [];
    const outside = reaches.flatMap((reach) => (OUTSIDE[reach] === undefined ? [] : [OUTSIDE[reach]]));
    return [
      boxOf(box, 'service', [name, WORK[name], calls, ...schema]),
      ...outside.flatMap((lines) => [
        arrow(middle(box), box.y + box.height, below - 8),
        boxOf({ ...box, y: below, height: 54 }, 'outside', lines),
      ]),
    ];
  });

/** The picture as an SVG that follows the reader's light or dark theme. */
export const architecturePicture = (): string => {
  const clients = inRow(CLIENTS.length, 20, 58);
  const hasRedis = reachesOf('gateway').includes('redis');
  const gateway: Box = { x: MARGIN, y: 116, width: hasRedis ? 770 : WIDTH - 2 * MARGIN, height: 58 };
  const redis: Box = { x: 830, y: 116, width: WIDTH - MARGIN - 830, height: 58 };
  const services = inRow(SERVICE_NAMES.length, 286, 92);
  const bus: Box = { x: MARGIN, y: 212, width: WIDTH - 2 * MARGIN, height: 36 };
  const all = contractList.map(({ name }) => name);
  const onBus = [
    'NATS',
    'request and reply',
    `JetStream with ${plural(count('events', all), 'event')} and ${plural(count('jobs', all), 'job')}`,
  ].join('  ·  ');
  const parts = [
    ...CLIENTS.map((lines, index) => boxOf(clients[index]!, 'client', lines)),
    ...clients.map((box) => arrow(Math.min(middle(box), 760), 78, gateway.y - 8)),
    boxOf(gateway, 'gateway', [
      'gateway',
      `HTTPS, ${plural(count('operations', all), 'operation')}: authenticates, limits, validates, forwards`,
    ]),
    ...(hasRedis
      ? [
          boxOf(redis, 'outside', ['Redis', 'windows of limits']),
          `<path d="M${gateway.x + gateway.width} 145H${redis.x - 8}" class="arrow" marker-end="url(#end)"/>`,
        ]
      : []),
    arrow(middle(gateway), 174, bus.y - 8),
    `<rect x="${bus.x}" y="${bus.y}" width="${bus.width}" height="${bus.height}" rx="8" class="bus"/>`,
    text(WIDTH / 2, bus.y + 23, onBus, 'on-bus'),
    ...services.map((box) => arrow(middle(box), bus.y + bus.height, box.y - 8)),
    ...servicesOf(services, 416),
    boxOf({ x: MARGIN, y: 416, width: services[2]!.x + services[2]!.width - MARGIN, height: 54 }, 'outside', [
      'Postgres',
      'a schema for each service, which no other service reads',
    ]),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} 490" role="img" aria-label="Architecture: clients call the gateway, which calls ${SERVICE_NAMES.join(', ')} over NATS.">
<!-- Generated from shared/contract/ and tools/k8s/workloads.ts by npm run generate; do not edit. -->
<style>
${STYLE}
</style>
<defs><marker id="end" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path d="M0 0L8 4L0 8z" class="end"/></marker></defs>
${parts.join('\n')}
</svg>
`;
};
