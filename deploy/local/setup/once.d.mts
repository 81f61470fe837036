type Say = (line: string) => void;
export const ensureOnce: (
  folder: string,
  fill: (stage: string) => Promise<void> | void,
  say?: Say,
) => Promise<string>;
export const staged: <T>(folder: string, use: (stage: string) => Promise<T>) => Promise<T>;
export const whileClaimed: <T>(file: string, say: Say, use: () => Promise<T>) => Promise<T>;
