import { compileMessageV0 } from '../transactions/compile-message.ts';
import { computeBudget } from '../transactions/instructions/compute-budget.ts';
import { memo } from '../transactions/instructions/memo.ts';
import { transferChecked } from '../transactions/instructions/transfer-checked.ts';
import type { OutgoingTerms } from './terms.ts';

const MICRO_LAMPORTS = 1n;

/**
 * The message of an outgoing payment in the form that the `exact` scheme of x402 and the `charge`
 * of MPP require: budget, and transfers by the delegate authority to existing token accounts, each
 * with its memo.
 */
export const buildOutgoingMessage = (
  { feePayer, source, authority, legs, units }: OutgoingTerms,
  { mint, blockhash }: { mint: string; blockhash: string },
): Uint8Array =>
  compileMessageV0(
    [
      ...computeBudget({ units, microLamports: MICRO_LAMPORTS }),
      ...legs.flatMap(({ destination, amountMicro, memo: text }) => [
        transferChecked({ source, mint, destination, authority, amountMicro }),
        ...(text === null ? [] : [memo(text)]),
      ]),
    ],
    { feePayer, blockhash },
  );
