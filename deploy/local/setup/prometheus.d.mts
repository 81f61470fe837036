export function ensurePrometheus(say: (line: string) => void): void;
