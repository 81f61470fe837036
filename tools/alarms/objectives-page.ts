import { BUDGET_ALARMS } from '../../deploy/observability/alerts/budgets.ts';
import { oneLine } from '../../deploy/observability/alerts/groups.ts';
import {
  JOURNEY_NAMES,
  type JourneyName,
  OBJECTIVES,
  operationsOf,
} from '../../deploy/observability/alerts/objectives.ts';
import { code, table } from '../pages/map-page.ts';
import { wrapped } from './wrapped.ts';

/** docs/objectives.md: the promises of the platform, and what to do when one is not kept. */

const operationsText = (journey: JourneyName): string => {
  const all = operationsOf(journey).map(({ id }) => code(id));
  return all.length === 0 ? 'It goes on without a call.' : `Operations: ${all.join(', ')}.`;
};

const section = (journey: JourneyName): string => {
  const { about, objectives, first, means, inspect, act, never } = OBJECTIVES[journey];
  const alarms = BUDGET_ALARMS.filter(([, { runbook }]) => runbook === `docs/objectives.md#${journey}`);
  const rows = objectives.map(({ name, of1000, promise }) => [code(name), `${of1000} of 1,000 ${promise}`]);
  return `## ${journey}

${wrapped(`First: \`npm run ops -- ${first}.`)}

${wrapped(`${about} ${operationsText(journey)}`)}

${table(['Objective', 'Over 30 days'], rows)}

${alarms
  .map(
    ([name, { severity, expr }]) =>
      `${name} (${severity}):\n\n\`\`\`promql\n${oneLine(expr).replaceAll(' and ', '\n  and ')}\n\`\`\`\n`,
  )
  .join('\n')}
${wrapped(`**Means.** ${means}`)}

${wrapped(`**Look first.** ${inspect}`)}

${wrapped(`**Do.** ${act}`)}

${wrapped(`**Never.** ${never} Change an objective to silence its alarm.`)}
`;
};

export const objectivesPage = (): string => `# Objectives

Written by \`npm run generate\` from \`deploy/observability/alerts/objectives.ts\` and the contract, where each
operation names its journey. It is for the person who is paged by an alarm of a journey, and says what the platform
promises.

\`Fast\` pages when 2 % of the misses that an objective allows in a month are used in an hour: 14.4 times the rate that
it allows. \`Slow\` opens a ticket when 5 % are used in six hours: 6 times that rate. Each compares a short window too,
so that it ends soon after its cause, and needs at least five misses, so that one call at night wakes nobody. The label
\`objective\` says which one is missed. The dashboard "Quittance / Objectives" shows for each journey what was kept in
the last hour, what is left of the month's misses, and how fast they are used.

${table(
  ['Journey', 'Objective', 'Over 30 days'],
  JOURNEY_NAMES.flatMap((journey) =>
    OBJECTIVES[journey].objectives.map(({ name, of1000, promise }) => [
      `[${journey}](#${journey})`,
      code(name),
      `${of1000} of 1,000 ${promise}`,
    ]),
  ),
)}

${JOURNEY_NAMES.map(section).join('\n')}`;
