export const repositoryRoot: string;
export const unpackedDir: string;
export const serverUrlVariables: Record<'postgres' | 'nats-server' | 'redis-server', string>;
/** The path of an executable, or undefined if it is not found. */
export function findBinary(name: string): string | undefined;
export function dockerAnswers(): boolean;
