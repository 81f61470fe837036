import {
  chainSubmitter,
  funding,
  identity,
  quote,
  settlement,
  wallet,
  webhook,
} from '../../shared/contract/index.ts';
import type { SERVICE_NAMES } from '../../shared/contract/service.ts';

/** The services, each of which has its own record of what operators did and its own messages set aside. */
export const everywhere = {
  quote,
  settlement,
  wallet,
  funding,
  identity,
  'chain-submitter': chainSubmitter,
  webhook,
} as const satisfies Record<(typeof SERVICE_NAMES)[number], unknown>;
export type ServiceName = keyof typeof everywhere;
export const serviceNames = Object.keys(everywhere) as ServiceName[];
