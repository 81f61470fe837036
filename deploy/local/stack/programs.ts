import { type BusUser, type Program, SERVICE_NAMES } from '../../../shared/contract/service.ts';

/** Every process of the product, in the order of the default ports of `npm start`, 3000 and up. */
export const programNames: readonly Program[] = ['gateway', ...SERVICE_NAMES];

/** Every user of the bus: those processes, and the operators' command. */
export const busUserNames: readonly BusUser[] = [...programNames, 'operator'];

/** How many processes run each service. */
export type Instances = Partial<Record<Program, number>>;

/** So many of every service. */
export const replicas = (count: number): Instances =>
  Object.fromEntries(programNames.map((name) => [name, count]));

/**
 * Its name in stack.json and of its log: the first has none of its own, a second is `settlement#2`.
 */
export const instanceName = (name: string, instance: number): string =>
  instance === 1 ? name : `${name}#${instance}`;
