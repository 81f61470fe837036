/**
 * Models get the time as an argument. SQL reads it through app_now() (docs/design/settle.md, Time).
 */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

/** Epoch milliseconds as ISO 8601 UTC. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

/** Epoch milliseconds or null as ISO 8601 UTC or null. */
export const isoTimeOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : isoTime(epochMs);
