/**
 * Domain code gets time passed in; `main.ts` passes this. SQL reads time through app_now()
 * (docs/design/settle.md, Time).
 */
export type Clock = () => number;
export const systemClock: Clock = () => Date.now();

/** Epoch milliseconds to the wire's ISO 8601 UTC. */
export const isoTime = (epochMs: number): string => new Date(epochMs).toISOString();

/** The same for what may be absent. */
export const isoTimeOrNull = (epochMs: number | null): string | null =>
  epochMs === null ? null : isoTime(epochMs);
