import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** The dashboards of an installation, in Grafana's format (deploy/observability). */
const FOLDER = path.resolve(import.meta.dirname, '../../observability/grafana/dashboards');

const File = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.object({
      id: z.number(),
      type: z.enum(['row', 'timeseries', 'stat']),
      title: z.string(),
      description: z.string().optional(),
      fieldConfig: z.object({ defaults: z.object({ unit: z.string() }) }).optional(),
      targets: z.array(z.object({ expr: z.string(), legendFormat: z.string() })).optional(),
    }),
  ),
});

export type Panel = {
  id: number;
  type: 'row' | 'timeseries' | 'stat';
  title: string;
  about: string;
  unit: string;
  targets: readonly { expr: string; legendFormat: string }[];
};
export type Dashboard = { uid: string; title: string; panels: readonly Panel[] };

/** Payments first, because a newcomer starts there. */
const ORDER = ['payments', 'gateway', 'objectives', 'chain', 'queues'];

const place = ({ title }: Dashboard): number => ORDER.findIndex((name) => title.toLowerCase().includes(name));

/** All dashboards, as the files say. */
export const readDashboards = (): Dashboard[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => File.parse(JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8'))))
    .map(({ uid, title, panels }) => ({
      uid,
      title: title.replace(/^Quittance \/ /, ''),
      panels: panels.map(({ id, type, title: name, description = '', fieldConfig, targets = [] }) => ({
        id,
        type,
        title: name,
        about: description,
        unit: fieldConfig?.defaults.unit ?? '',
        targets,
      })),
    }))
    .sort((a, b) => place(a) - place(b));
