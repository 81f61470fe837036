import { z } from 'zod';
import { AccountId, MicroUsdc, SettlementId, Timestamp } from '../primitives.ts';
import { operatorOperation } from '../service.ts';

const MAX_LISTED = 200;

/** Operations of operators on payments that did not become what they should. */
export const failureOperations = {
  listFailures: operatorOperation({
    summary: 'Why payments have failed since a time, and which of them a fork has reversed',
    input: z.strictObject({ since: Timestamp, limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.strictObject({
      /** How many payments were read. */
      payments: z.int().min(0),
      /** Whether these are all since that time: the newest 100,000 are read at most. */
      all: z.boolean(),
      failed: z.array(
        z.strictObject({
          failure_code: z.string(),
          failure_message: z.string(),
          payments: z.int().min(1),
          vendors: z.int().min(0),
          newest: SettlementId,
        }),
      ),
      reversed: z.array(
        z.strictObject({
          settlement_id: SettlementId,
          vendor_account_id: AccountId.nullable(),
          amount: MicroUsdc,
          status: z.string(),
          tx_hash: z.string().nullable(),
          failure_code: z.string().nullable(),
          redeemed_at: Timestamp.nullable(),
        }),
      ),
    }),
  }),
  listUndelivered: operatorOperation({
    summary:
      'Payments older than five minutes that are paid and that their vendors have not redeemed, the oldest first',
    input: z.strictObject({ limit: z.int().min(1).max(MAX_LISTED) }),
    output: z.array(
      z.strictObject({
        settlement_id: SettlementId,
        vendor_account_id: AccountId.nullable(),
        rail: z.string(),
        amount: MicroUsdc,
        created_at: Timestamp,
        /** Null: it can be redeemed without an end. */
        redeem_expires_at: Timestamp.nullable(),
      }),
    ),
  }),
};
