import type { ServiceError } from '../../shared/contract/errors.ts';
import type { Principal } from '../../shared/contract/principal.ts';
import { newId } from '../../shared/lib/id.ts';
import { callAs } from './settlement.ts';
import { newPayee, requirementOf } from './settlement-outgoing.ts';

/** Calls of outgoing payments over the fixture of settlement. */
export const USDC = 1_000_000n;
export const RESOURCE = 'https://api.example.com/report?day=1';
/** The right of a delegate to pay any vendor. */
export const ANY_PAYEE = { external: { pay_to: 'any' as const, origins: null } };

export type PaidOut = {
  settlement_id: string;
  status: string;
  payment_signature: string;
  transaction: string;
  tx_hash: string | null;
};
type Options = {
  attempt?: string;
  payTo?: string;
  amount?: bigint;
  resource?: string;
  version?: 1 | 2;
  requirement?: object;
};
/** Pays a new address, unless the options name one. */
export const payOut = (
  payer: Principal,
  { attempt = newId('evt'), payTo = newPayee(newId('evt')), amount, ...rest }: Options = {},
) =>
  callAs<PaidOut>(payer, 'payExternal', {
    payment_attempt_id: attempt,
    resource: rest.resource ?? RESOURCE,
    ...(rest.version !== undefined && { x402_version: rest.version }),
    requirement: rest.requirement ?? requirementOf(payTo, amount),
  });

/** The error of a refused call as the caller gets it. */
export const refusal = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('The call was not refused.');
    },
    (error: ServiceError) => ({ code: error.code, message: error.message, ...error.extras }),
  );
