import { ComputeBudgetProgram, type TransactionInstruction } from '@solana/web3.js';

/** Limit in compute units and price in micro-lamports per unit. */
type ComputeBudget = { units: number; microLamports: bigint };

/** Used only where `COMPUTE_BUDGET` is configured (rule 13), for congested networks. */
export const computeBudget = ({ units, microLamports }: ComputeBudget): TransactionInstruction[] => [
  ComputeBudgetProgram.setComputeUnitLimit({ units }),
  ComputeBudgetProgram.setComputeUnitPrice({ microLamports }),
];
