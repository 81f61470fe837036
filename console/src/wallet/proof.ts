/**
 * The four lines that a wallet signs so that it becomes an account's (docs/spec/decisions.md,
 * Wallets); good for five minutes.
 */
export const proofMessage = (accountId: string, address: string): string =>
  [
    'Quittance wallet proof',
    `account: ${accountId}`,
    `wallet: ${address}`,
    `issued_at: ${new Date().toISOString()}`,
  ].join('\n');
