/**
 * The four lines that a wallet signs to be linked to an account (docs/spec/decisions.md,
 * Wallets). Valid for five minutes.
 */
export const proofMessage = (accountId: string, address: string): string =>
  [
    'Quittance wallet proof',
    `account: ${accountId}`,
    `wallet: ${address}`,
    `issued_at: ${new Date().toISOString()}`,
  ].join('\n');
