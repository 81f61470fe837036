export function ensureCommands(root: string): void;
