import { contracts } from '../../shared/contract/index.ts';

const { gateway: _keepsNothing, ...services } = contracts;

/** The services, each of which has its own record of what operators did and its own messages set aside. */
export const everywhere = services;
export type ServiceName = keyof typeof everywhere;
export const serviceNames = Object.keys(everywhere) as ServiceName[];
