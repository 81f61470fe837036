/**
 * Migrations run before the services of their release start, while those of the previous release
 * still run. A release may therefore add what the older services do not read, and remove only what
 * no service of the previous release uses.
 */
const FORBIDDEN: readonly [RegExp, string][] = [
  [/\bdrop\s+(table|column|view|type|function|schema)\b/, 'removes what older services may use'],
  [/\brename\s+(to|column)\b|\brename\s+\S+\s+to\b/, 'renames what older services use'],
  [/\bset\s+not\s+null\b/, 'refuses rows that older services write'],
  [
    /\balter\s+(column\s+)?\S+\s+(set\s+data\s+)?type\b/,
    'changes a type and rewrites the table under a lock',
  ],
  [/\bdrop\s+default\b/, 'refuses rows that older services write'],
  [/\badd\s+constraint\b/, 'may refuse rows that older services write'],
];
const ADDED_COLUMN = /\badd\s+column\b/;

/** Each statement or clause separately, with the comment above it. */
const clausesOf = (sql: string): { text: string; contract: string | null }[] => {
  const clauses: { text: string; contract: string | null }[] = [];
  for (const statement of sql.split(';')) {
    let contract: string | null = null;
    let text = '';
    for (const line of statement.split('\n')) {
      contract = /^\s*--\s*contract:\s*(\S+)/.exec(line)?.[1] ?? contract;
      text += `${line.replace(/--.*$/, '')}\n`;
    }
    // An `alter table` may contain several changes. Each starts a line or follows a comma.
    const parts = /^\s*alter\s+table\b/i.test(text) ? text.split(/,(?![^(]*\))/) : [text];
    for (const part of parts)
      clauses.push({ text: part.toLowerCase().replaceAll(/\s+/g, ' ').trim(), contract });
  }
  return clauses.filter(({ text }) => text !== '');
};

/**
 * The changes of a migration that would break the services of the previous release.
 * @param releases the existing releases. `-- contract: <release>` above a statement declares that
 *   this release no longer used it.
 * @returns one line per finding
 */
export const contractingIn = (sql: string, releases: readonly string[]): string[] =>
  clausesOf(sql).flatMap(({ text, contract }) => {
    if (contract !== null && releases.includes(contract)) return [];
    const found = FORBIDDEN.filter(([pattern]) => pattern.test(text)).map(([, why]) => why);
    if (ADDED_COLUMN.test(text) && /\bnot null\b/.test(text) && !/\bdefault\b|\bgenerated\b/.test(text))
      found.push('refuses rows that older services write');
    return found.map((why) => `${text.slice(0, 80)}: ${why}`);
  });
