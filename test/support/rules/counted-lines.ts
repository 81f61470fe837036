/** Equal lines once, in the order of their first, with how often they occurred. */
export const countedLines = (lines: readonly string[]): string[] => {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return [...counts].map(([line, count]) => (count === 1 ? line : `${line} (${count} times)`));
};

const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const TYPE_ID = /\b([a-z]{1,8})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g;

/** A line without what differs in each request: its ids. */
export const withoutIds = (line: string): string => line.replace(UUID, '…').replace(TYPE_ID, '$1_…');
