export function ensureNodeModules(
  root: string,
  say: (line: string) => void,
  options: { forStart: boolean; keepUsed?: boolean },
): Promise<void>;
