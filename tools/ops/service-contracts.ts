import { contracts } from '../../shared/contract/index.ts';

const { gateway: _gateway, ...services } = contracts;

/** The services. Each has its own record of operator actions and its own quarantine. */
export const serviceContracts = services;
export type ServiceName = keyof typeof serviceContracts;
export const serviceNames = Object.keys(serviceContracts) as ServiceName[];
