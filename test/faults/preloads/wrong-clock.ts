import { readFileSync } from 'node:fs';
import { setInterval } from 'node:timers';
import { shiftDate } from '../../support/base/shifted-date.ts';

/**
 * Loaded into every service of a campaign with `node --import`, never part of an image. The
 * process's clock is wrong by the milliseconds in the file that the module's URL names. Without the
 * file the clock is right.
 */
const file = new URL(import.meta.url).searchParams.get('file');
if (file === null) throw new Error('wrong-clock.ts needs ?file=');

const EVERY_MS = 200;
let wrongMs = 0;

const readOffset = () => {
  try {
    wrongMs = Number(readFileSync(file, 'utf8'));
  } catch {
    wrongMs = 0;
  }
};
readOffset();
setInterval(readOffset, EVERY_MS).unref();

shiftDate(() => wrongMs);
