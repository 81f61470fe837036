import { z } from 'zod';
import { Reason } from '../operator.ts';
import {
  AccountId,
  MicroUsdc,
  SettlementId,
  SolanaAddress,
  Timestamp,
  TransactionHash,
} from '../primitives.ts';
import { operatorOperation } from '../service.ts';
import { Payees } from './payees.ts';
import { ChainStatus, SettlementStatus } from './status.ts';

/** An outgoing payment that does not end. */
const unsigned = {
  settlement_id: SettlementId,
  account_id: AccountId,
  payment_attempt_id: z.string(),
  amount: MicroUsdc,
  payees: Payees,
  owner: SolanaAddress,
  created_at: Timestamp,
};

/** Operations of operators on outgoing payments that a restore leaves undecided. */
export const unsignedOperations = {
  listUnsignedPayments: operatorOperation({
    summary:
      'Outgoing payments without bytes that are older than two minutes, and others older than fifteen, the oldest first',
    input: z.strictObject({ limit: z.int().min(1).max(200) }),
    output: z.array(z.strictObject(unsigned)),
  }),
  getUnsignedPayment: operatorOperation({
    summary: 'One of them, and what the chain has that may be its payment, at every provider',
    input: z.strictObject({ settlement_id: SettlementId }),
    output: z.strictObject({
      ...unsigned,
      found: z.enum(['none', 'paid', 'undecided']),
      transactions: z.array(TransactionHash),
    }),
  }),
  endUnsignedPayment: operatorOperation({
    summary:
      'Ends one of them as failed, so that nothing is signed for it and its hold is released. Refused if its bytes were handed out and are not lost, and if the chain has its payment.',
    input: z.strictObject({ settlement_id: SettlementId, reason: Reason }),
    output: z.strictObject({ status: SettlementStatus, chain_status: ChainStatus }),
  }),
};
