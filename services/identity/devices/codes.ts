import { randomBytes, randomInt } from 'node:crypto';
import type { Environment } from '../../../shared/contract/primitives.ts';

/** Consonants that spell no word and are not mistaken for each other (RFC 8628, 6.1). */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const letters = (count: number): string =>
  Array.from({ length: count }, () => LETTERS[randomInt(LETTERS.length)]).join('');

/** The code that a person reads on the device and enters: `WDJB-MJHT`. */
export const newUserCode = (): string => `${letters(4)}-${letters(4)}`;

/** The code that the device keeps: `dc_<env>_` + 256 random bits as base64url. */
export const newDeviceCode = (environment: Environment): string =>
  `dc_${environment}_${randomBytes(32).toString('base64url')}`;
