import { DASHBOARDS } from '../../observability/dashboards/dashboards.ts';

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

/** The dashboards of an installation (deploy/observability), as the page shows them. */
export const readDashboards = (): Dashboard[] =>
  DASHBOARDS.map(({ uid, title, rows }) => ({
    uid,
    title: title.replace(/^Quittance \/ /, ''),
    panels: rows
      .flatMap(({ title: name, panels }) => [
        { type: 'row' as const, title: name, about: '', unit: '', targets: [] },
        ...panels.map(({ title: of, about, unit, queries, stat = false }) => ({
          type: stat ? ('stat' as const) : ('timeseries' as const),
          title: of,
          about,
          unit,
          targets: queries.map(({ expr, legend = '' }) => ({ expr, legendFormat: legend })),
        })),
      ])
      .map((panel, index) => ({ id: index + 1, ...panel })),
  })).sort((a, b) => place(a) - place(b));
