import { compileMessageV0 } from '../transactions/compile-message.ts';
import { computeBudget } from '../transactions/instructions/compute-budget.ts';
import { memo } from '../transactions/instructions/memo.ts';
import { transferChecked } from '../transactions/instructions/transfer-checked.ts';
import type { OutgoingTerms } from './terms.ts';

/** The budget that facilitators of x402 accept, which is enough for a transfer and a memo. */
const BUDGET = { units: 20_000, microLamports: 1n };

/**
 * The message of an outgoing payment in the form that the `exact` scheme of x402 requires: budget,
 * one transfer by the delegate authority to an existing token account, and a memo.
 */
export const buildOutgoingMessage = (
  { feePayer, source, destination, authority, amountMicro, memo: text }: OutgoingTerms,
  { mint, blockhash }: { mint: string; blockhash: string },
): Uint8Array =>
  compileMessageV0(
    [
      ...computeBudget(BUDGET),
      transferChecked({ source, mint, destination, authority, amountMicro }),
      memo(text),
    ],
    { feePayer, blockhash },
  );
