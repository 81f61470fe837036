// Writes the dashboards for a Grafana: `node deploy/observability/dashboards/write.ts <folder>`.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { writeAtomically } from '../../local/processes/atomic-file.ts';
import { DASHBOARDS } from './dashboards.ts';
import { grafanaJson } from './grafana.ts';

/** Writes a file for each dashboard. Any user may read them, because Grafana has one of its own. */
export const writeDashboards = (folder: string): void => {
  mkdirSync(folder, { recursive: true });
  for (const dashboard of DASHBOARDS)
    writeAtomically(path.join(folder, `${dashboard.uid}.json`), grafanaJson(dashboard));
};

if (import.meta.main) {
  const [, , folder] = process.argv;
  if (folder === undefined) throw new Error('name the folder that Grafana reads its dashboards from');
  writeDashboards(folder);
}
