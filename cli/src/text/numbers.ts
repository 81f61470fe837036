import { UsageError } from '../errors.ts';

/**
 * An option that counts something.
 * @param name of the option, for the error
 * @throws UsageError if it is no whole number from 1 to 999999999
 */
export const countOption = (text: string, name: string): number => {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`${name}: "${text}" is not a whole number from 1`);
  return Number(text);
};
