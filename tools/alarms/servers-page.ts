import { oneLine } from '../../deploy/observability/alerts/groups.ts';
import { SOURCES } from '../../deploy/observability/alerts/server-alarm.ts';
import { SERVER_ALARMS } from '../../deploy/observability/alerts/servers.ts';
import { wrapped } from './wrapped.ts';

/** docs/runbook-servers.md: the alarms about Postgres, NATS, Redis, volumes and certificates. */

const INSPECT =
  'The labels name the namespace and the server. `kubectl describe` of its pod or claim, and its log.';

const section = ([name, alarm]: (typeof SERVER_ALARMS)[number]): string => `## ${name}

${wrapped(`First: \`npm run ops -- ${alarm.first}.`)}

\`\`\`promql
${oneLine(alarm.expr)}
\`\`\`

${wrapped(`**Threshold.** ${alarm.threshold} From ${SOURCES[alarm.source]}.`)}

${wrapped(`**Means.** ${alarm.means}`)}

${wrapped(`**Look first.** ${INSPECT}`)}

${wrapped(`**Do.** ${alarm.act}`)}

${wrapped(`**Never.** ${alarm.never}`)}
`;

export const serversPage = (): string => `# Runbook of the servers

Written by \`npm run generate\` from the files \`servers-*.ts\` of \`deploy/observability/alerts/\`. The component
\`server-alerts\` of \`k8s/\` has these alarms for the Prometheus operator. They need the exporters of the servers.
\`runbook.md\` has the alarms about the product, and the rules that hold in every incident.

${SERVER_ALARMS.map(section).join('\n')}`;
