import type { Handler } from '../../../shared/contract/service.ts';
import type { settlement } from '../../../shared/contract/settlement.ts';
import { isOutgoing } from '../outgoing/sign.ts';
import { listUnsigned } from '../record/store/outgoing/outgoing-payments.ts';
import { type UnsignedDeps, view } from './unsigned.ts';

/** Lists outgoing payments whose call is over and which have no bytes. */
export const listUnsignedPayments =
  ({ pool }: Pick<UnsignedDeps, 'pool'>): Handler<typeof settlement.internal.listUnsignedPayments> =>
  async ({ limit }) =>
    (await listUnsigned(pool, limit)).filter(isOutgoing).map(view);
