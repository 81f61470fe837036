import { chainSubmitter } from './chain-submitter.ts';
import { funding } from './funding.ts';
import { gateway } from './gateway.ts';
import { identity } from './identity.ts';
import { quote } from './quote.ts';
import type { ServiceContract } from './service.ts';
import { settlement } from './settlement.ts';
import { wallet } from './wallet.ts';
import { webhook } from './webhook.ts';

/**
 * The contracts of all services. A new endpoint is one entry in its contract file and one handler
 * file.
 */
export const contracts = {
  gateway,
  quote,
  settlement,
  wallet,
  funding,
  identity,
  'chain-submitter': chainSubmitter,
  webhook,
} as const;

/** The contracts as a list of the wide type, for code that derives something from all of them. */
export const contractList: readonly ServiceContract[] = Object.values(contracts);

export { chainSubmitter, funding, gateway, identity, quote, settlement, wallet, webhook };
