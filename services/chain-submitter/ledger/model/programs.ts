/** The programs of the transactions, and the program of the guard instructions that wallets add. */
export const PROGRAMS = {
  system: '11111111111111111111111111111111',
  token: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  token2022: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
  tokenAccount: 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL',
  computeBudget: 'ComputeBudget111111111111111111111111111111',
  memo: 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr',
  lookupTable: 'AddressLookupTab1e1111111111111111111111111',
  lighthouse: 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95',
} as const;

/** The programs of wallets, by the names that the setting INCOMING_PROGRAMS has for them. */
export const WALLET_PROGRAMS = {
  /** Only asserts. */
  lighthouse: [PROGRAMS.lighthouse],
  /** Multisig version 4, and Smart Account. */
  squads: ['SQDS4ep65T869zMMBKyuUq6aD6EgTu8psMjkvj52pCf', 'SMRTzfY6DfH5ik3TKiyLFfXexV8uSG3d2UksSCYdunG'],
  /** Both deployments. */
  swig: ['SWiGmQedKzMz1tiTqoJCWeGDnGXfNBp2PkXLkpCAtQo', 'swigypWHEksbC64pWKwah1WTeh9JXwx8H1rJHLdbQMB'],
} as const;
export type WalletProgram = keyof typeof WALLET_PROGRAMS;
