import { shiftDate } from './shifted-date.ts';

/** Loaded into a process with `node --import`. Its clock is wrong by the `ms` of this URL. */
const ms = Number(new URL(import.meta.url).searchParams.get('ms') ?? Number.NaN);
if (Number.isNaN(ms)) throw new Error('shifted-process.ts needs ?ms=');
shiftDate(() => ms);
