import { actors } from './actors.ts';
import type { Chain } from './chain.ts';
import type { Profile } from './providers.ts';

/** At most one provider is faulty. Some runs have one provider only. */
export const profilesOf = (kind: number, first: boolean, lagSlots: number, faultsMs: number): Profile[] => {
  const honest: Profile = {
    ...{ lagSlots: 0, forgetfulUntil: 0, unavailableUntil: 0, liesUntil: 0 },
    namesNothingUntil: kind === 5 ? faultsMs : 0,
  };
  const other: Profile = {
    lagSlots: kind === 1 ? lagSlots : 0,
    forgetfulUntil: kind === 2 ? faultsMs : 0,
    unavailableUntil: kind === 4 ? faultsMs : 0,
    liesUntil: kind === 5 ? faultsMs : 0,
    namesNothingUntil: 0,
  };
  if (kind === 3) return [honest];
  return first ? [other, honest] : [honest, other];
};

/** The token accounts of the vendor, the platform and the payers. */
export const openAccounts = (accounts: Chain['accounts'], millions: number): void => {
  const empty = { amount: 0n, delegate: null, allowance: 0n };
  accounts.set(actors.vendor.tokenAccount, { ...empty, owner: actors.vendor.payout });
  accounts.set(actors.network.feeAccount, { ...empty, owner: actors.network.feeWallet });
  for (const { owner, authority, token_account: tokenAccount } of actors.payers) {
    const amount = BigInt(millions) * 1_000_000n;
    accounts.set(tokenAccount, { owner, amount, delegate: authority, allowance: amount });
  }
};

/** The payer spends elsewhere, revokes the delegation, or gives it to another delegate. */
export const drain = (chain: Chain, payer: number, act: 'spends' | 'revokes' | 'overwrites'): void => {
  const { token_account: tokenAccount } = actors.payers[payer]!;
  chain.outside(`payer ${payer} ${act} outside`, (accounts) => {
    const account = accounts.get(tokenAccount)!;
    if (act === 'spends') account.amount /= 2n;
    else if (act === 'revokes') Object.assign(account, { delegate: null, allowance: 0n });
    else Object.assign(account, { delegate: actors.vendor.payout, allowance: account.amount });
  });
};
