import { stringify } from 'yaml';
import { alertmanagerConfig } from '../../deploy/observability/alerts/alertmanager.ts';
import { GROUPS, ruleFile } from '../../deploy/observability/alerts/groups.ts';

/** The rules of Prometheus and the routes of Alertmanager, from deploy/observability/alerts/. */

const HEADER = '# Generated from deploy/observability/alerts/ by `npm run generate`; do not edit.\n';

const yaml = (lines: readonly string[], content: object): string =>
  `${HEADER}${lines.map((line) => `# ${line}\n`).join('')}${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`;

/** File → content. */
export const alertFiles = (): Record<string, string> => ({
  'deploy/alerts.yaml': yaml(
    ['`page` wakes somebody; `ticket` is for the next working day. docs/runbook.md explains each.'],
    ruleFile(GROUPS),
  ),
  'deploy/observability/alertmanager.yaml': yaml(
    ['Replace the addresses of the three receivers (docs/operations.md, Alarms).'],
    alertmanagerConfig(),
  ),
});
