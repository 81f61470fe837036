import { type BusUser, type Program, SERVICE_NAMES } from '../../shared/contract/service.ts';

/** Every process of the product, in the order of the default ports of `npm start`, 3000 and up. */
export const programNames: readonly Program[] = ['gateway', ...SERVICE_NAMES];

/** Every user of the bus: those processes, and the operators' command. */
export const busUserNames: readonly BusUser[] = [...programNames, 'operator'];
