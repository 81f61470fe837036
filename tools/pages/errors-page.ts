import { type ErrorPage, errorPages } from '../../shared/contract/error-guide.ts';
import { code, table } from './map-page.ts';

/**
 * docs/errors.md: every error code, from the contract. The gateway serves the same at /docs/errors.
 */

const money = ({ money: values, actions }: ErrorPage): string[] =>
  values.length === 0
    ? []
    : [
        `In calls about money: \`money_moved\` is ${values.map(code).join(' or ')}, \`safe_action\` is ${actions
          .map(code)
          .join(' or ')}.`,
      ];

const section = (page: ErrorPage): string =>
  [
    `## ${page.code}`,
    `${page.http}. ${page.meaning}`,
    page.causes.map((cause) => `- ${cause}`).join('\n'),
    `What to do: ${page.action}`,
    ...money(page),
    `\`\`\`json\n${JSON.stringify(page.example, null, 2)}\n\`\`\``,
  ].join('\n\n');

export const errorsPage = (): string => {
  const pages = errorPages({ serverUrl: 'https://api.quittance.example' });
  return `# Errors

Written by \`npm run generate\` from \`shared/contract/errors.ts\` and \`shared/contract/error-guide.ts\`. The gateway serves the same at
\`/docs/errors\`, and \`docs_url\` of each error links to its code there.

Every error has a body with \`error\`: its \`code\`, a \`message\` that says what is wrong and what to do, \`request_id\` (also the header
\`x-request-id\`) and \`docs_url\`. Errors of calls about money also have \`money_moved\` and \`safe_action\`.

${table(
  ['Code', 'Status', 'Meaning', 'Repeat unchanged'],
  pages.map(({ code: name, http, meaning, retryable }) => [
    `[\`${name}\`](#${name})`,
    String(http),
    meaning,
    retryable ? 'yes' : 'no',
  ]),
)}

${pages.map(section).join('\n\n')}
`;
};
