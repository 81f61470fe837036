/**
 * Checks of options where they are declared, so that a mistake ends the start of a program with a
 * sentence, and not a request of a customer. Every check throws a TypeError that begins with the
 * option's name. No message repeats a value that may be a secret.
 */

import { nearest } from './generated/nearest.ts';

/** A required option has no value, or one that no running program has. */
export class MissingOptionError extends TypeError {}

/**
 * Makes something of options. A missing one is refused at the first use and not here, because
 * frameworks evaluate modules at build time, without the secrets of the run time. It is printed at
 * once, and any other fault is thrown at once.
 * @param deferred makes what calls `refuse` at its first use
 */
export const unlessMissing = <T>(where: string, make: () => T, deferred: (refuse: () => never) => T): T => {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof MissingOptionError)) throw error;
    const { message } = error;
    console.warn(`${where}: ${message}. A build needs no value`);
    return deferred(() => {
      throw new TypeError(message);
    });
  }
};

/** The names of an options type. With `satisfies`, the compiler reports a missing one. */
export type OptionNames<T> = { readonly [K in keyof Required<T>]: true };

/**
 * Refuses an unknown option name. JavaScript has no compiler that would, and an option that is
 * ignored looks like one that works.
 * @param where the function or option that takes them
 */
export const checkNames = (
  where: string,
  options: unknown,
  names: { readonly [name: string]: true },
): void => {
  const allowed = Object.keys(names);
  const list = `The options are ${allowed.join(', ')}.`;
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new TypeError(`${where}: pass an object with options. ${list}`);
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const meant = nearest(unknown, allowed);
  const question = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  throw new TypeError(`${where}: unknown option "${unknown}".${question} ${list}`);
};

/** @throws TypeError `name: fault` unless the fault is null */
export const refuseFault = (name: string, fault: string | null): void => {
  if (fault !== null) throw new TypeError(`${name}: ${fault}`);
};

/** An option that is a function, if it is set. */
export const checkFunction = (name: string, value: unknown): void => {
  if (value !== undefined && typeof value !== 'function') throw new TypeError(`${name}: pass a function`);
};

/** An option that is a positive whole number, if it is set. @param unit what it counts */
export const checkCount = (name: string, value: unknown, unit: string, least = 1): void => {
  if (value === undefined || (Number.isSafeInteger(value) && (value as number) >= least)) return;
  throw new TypeError(`${name}: use a whole number of ${unit}, at least ${least}`);
};

/** An option with these methods, if it is set. @param kind the name of its type */
export const checkMethods = (
  name: string,
  value: unknown,
  kind: string,
  methods: readonly string[],
): void => {
  if (value === undefined) return;
  const given = (value ?? {}) as Record<string, unknown>;
  if (methods.every((method) => typeof given[method] === 'function')) return;
  throw new TypeError(`${name}: pass an object with ${methods.join(', ')} (${kind})`);
};

const suggested = (value: string): string => {
  if (!/^[a-z0-9.-]+(:[0-9]+)?(\/[\w./-]*)?$/i.test(value)) return 'https://shop.example.com';
  return `${/^(localhost|127\.)/.test(value) ? 'http' : 'https'}://${value}`;
};

/**
 * An http(s) address without user, query and fragment.
 * @returns the address without slashes at its end
 */
export const checkAddress = (name: string, value: unknown): string => {
  if (typeof value !== 'string' || value === '')
    throw new MissingOptionError(`${name} is missing: use an address like https://shop.example.com`);
  if (!/^https?:\/\//i.test(value) || !URL.canParse(value))
    throw new TypeError(`${name}: use an http(s) address with its scheme: ${suggested(value)}`);
  const { username, password, search, hash } = new URL(value);
  if (username !== '' || password !== '') throw new TypeError(`${name}: leave out the user and the password`);
  if (search !== '' || hash !== '') throw new TypeError(`${name}: leave out the query and the fragment`);
  return value.replace(/\/+$/, '');
};

/**
 * The address of the API. A gateway behind a proxy may have a path, but `/v1` is added by the SDK.
 * @returns the address without slashes at its end
 */
export const checkBaseUrl = (value: unknown): string => {
  const address = checkAddress('baseUrl', value);
  const { origin, pathname } = new URL(address);
  const [, before] = /^(.*)\/v1(?:\/|$)/.exec(pathname) ?? [];
  if (before !== undefined)
    throw new TypeError(`baseUrl: leave out /v1, which the SDK adds: ${origin}${before}`);
  return address;
};
