import { type BusUser, SERVICE_NAMES } from '../../shared/contract/service.ts';

/** Every process of the product, in the order of the default ports of `npm start`, 3000 and up. */
export const programNames: readonly BusUser[] = ['gateway', ...SERVICE_NAMES];
