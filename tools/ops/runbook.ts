import { readFileSync } from 'node:fs';
import path from 'node:path';

const file = path.resolve(import.meta.dirname, '../../docs/runbook.md');

/** The first line of a section: the command, and what to search for in its answer. */
const FIRST = /^First: `npm run ops -- ([^`]+)`: \S/;

/** The text of docs/runbook.md. */
export const runbook = readFileSync(file, 'utf8');

/** The alarms and recoveries of docs/runbook.md, each with its first command; null: it has none. */
export const sections = runbook
  .slice(runbook.indexOf('\n# Alarms\n'))
  .split(/^## /m)
  .slice(1)
  .map((section) => {
    const [name = '', ...lines] = section.split('\n');
    return { name, command: FIRST.exec(lines.join('\n').trimStart())?.[1]?.replaceAll(/\s+/g, ' ') ?? null };
  });
