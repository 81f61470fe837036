/** The key under which a call waits for the token account of its wallet. */
export const wakeKey = (walletId: string): string => `tokenAccount.${walletId}`;
