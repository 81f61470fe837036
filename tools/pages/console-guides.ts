import { GUIDES } from '../../shared/contract/guides.ts';

/** The guides as the console links them: their names and titles, in the order of the index. */
export const consoleGuides = (): string =>
  `// Written by \`npm run generate\` out of shared/contract/guides.ts; do not edit.\nexport const GUIDES = ${JSON.stringify(
    GUIDES.map(({ name, title }) => ({ name, title })),
    null,
    2,
  )} as const;\n`;
