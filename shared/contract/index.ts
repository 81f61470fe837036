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
 * Every service there is. Adding an endpoint = one entry in its contract file + one handler file.
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

/** The same as a list with the wide type, for loops that derive something from all of them. */
export const contractList: readonly ServiceContract[] = Object.values(contracts);

export { chainSubmitter, funding, gateway, identity, quote, settlement, wallet, webhook };
