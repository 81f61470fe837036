import type { Message } from './formats/wire.ts';
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from './keys.ts';

const LAMPORTS_PER_SIGNATURE = 5_000n;
const MAX_UNITS = 1_400_000n;
const DEFAULT_UNITS = 200_000n;
// Builtin programs get a smaller default than others (SIMD-0170).
const BUILTIN_UNITS = 3_000n;
const MICRO_LAMPORTS = 1_000_000n;
const SET_LIMIT = 2;
const SET_PRICE = 3;

/** What a message offers for compute: micro-lamports per unit, and the units. */
const computeOf = (message: Message): { price: bigint; bought: bigint } => {
  let limit: bigint | undefined;
  let price = 0n;
  let units = 0n;
  for (const { programIdIndex, data } of message.instructions) {
    const program = message.staticKeys[programIdIndex];
    const builtin = program === COMPUTE_BUDGET_PROGRAM || program === SYSTEM_PROGRAM;
    units += builtin ? BUILTIN_UNITS : DEFAULT_UNITS;
    if (program !== COMPUTE_BUDGET_PROGRAM) continue;
    const bytes = Buffer.from(data);
    if (bytes[0] === SET_LIMIT && bytes.length >= 5) limit = BigInt(bytes.readUInt32LE(1));
    if (bytes[0] === SET_PRICE && bytes.length >= 9) price = bytes.readBigUInt64LE(1);
  }
  const wanted = limit ?? units;
  return { price, bought: wanted < MAX_UNITS ? wanted : MAX_UNITS };
};

/** Micro-lamports per compute unit that a message offers. */
export const priceOf = (message: Message): bigint => computeOf(message).price;

/** The fee of a message in lamports: 5000 per signature and the compute price, rounded up. */
export const feeOf = (message: Message): bigint => {
  const { price, bought } = computeOf(message);
  const priority = (price * bought + MICRO_LAMPORTS - 1n) / MICRO_LAMPORTS;
  return LAMPORTS_PER_SIGNATURE * BigInt(message.requiredSignatures) + priority;
};
