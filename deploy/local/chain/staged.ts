/**
 * A token account in a state that it does not have: without tokens, or frozen. Only one transaction
 * finds it in that state.
 */
export type Staged = { account: string; as: 'empty' | 'frozen' };

// Layout: `state.rs` of the SPL Token program.
const AMOUNT_AT = 64;
const STATE_AT = 108;
const FROZEN = 2;

/** The data of a token account as the transaction finds it. */
export const stagedData = (data: Uint8Array, { as }: Staged): Uint8Array<ArrayBuffer> => {
  const staged = Buffer.from(data);
  if (as === 'empty') staged.writeBigUInt64LE(0n, AMOUNT_AT);
  else staged[STATE_AT] = FROZEN;
  return new Uint8Array(staged);
};
