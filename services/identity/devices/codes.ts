import { randomBytes, randomInt } from 'node:crypto';
import type { Environment } from '../../../shared/contract/primitives.ts';
import { withCell } from '../../../shared/lib/cell.ts';

/** Consonants that spell no word and are not mistaken for each other (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const letters = (count: number): string =>
  Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** The code that a person reads on the device and enters: `WDJB-MJHT`. */
export const newUserCode = (): string => `${letters(4)}-${letters(4)}`;

/** The code that the device keeps: `dc_<env>_` + 246 random bits and the cell as base64url. */
export const newDeviceCode = (environment: Environment): string =>
  `dc_${environment}_${withCell(randomBytes(32)).toString('base64url')}`;
