import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { getUnsigned, searchUnsigned, type UnsignedDeps, view } from './unsigned.ts';

/** Reads one of them with what the chain has that may be its payment. */
export const getUnsignedPayment =
  (deps: UnsignedDeps): Handler<typeof settlement.internal.getUnsignedPayment> =>
  async ({ settlement_id }) => {
    const row = await getUnsigned(deps, settlement_id);
    return { ...view(row), ...(await searchUnsigned(deps, row)) };
  };
