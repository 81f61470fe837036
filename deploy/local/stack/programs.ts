import { type Program, SERVICE_NAMES } from '../../../shared/contract/service.ts';

/** Every process of the product, in the order of the ports of `npm start`. */
export const programNames: readonly Program[] = ['gateway', ...SERVICE_NAMES];

/** The number of processes per service. */
export type Instances = Partial<Record<Program, number>>;

/** The same number of processes for every service. */
export const replicas = (count: number): Instances =>
  Object.fromEntries(programNames.map((name) => [name, count]));

/**
 * The name of an instance in stack.json and of its log. The first has no suffix, the second is
 * `settlement#2`.
 */
export const instanceName = (name: string, instance: number): string =>
  instance === 1 ? name : `${name}#${instance}`;
