import { z } from 'zod';
import type { Account } from '../bank.ts';
import type { Chain } from '../chain.ts';
import { internalError, invalidParams } from '../errors.ts';
import { type AccountFormat, encodeAccount } from '../formats/encode.ts';
import { u64 } from '../formats/json.ts';
import { type Key, keyNamed, keyOf, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../keys.ts';
import { decimalsOf } from '../meta.ts';
import { tokenAccount, tokenMint, uiAmount } from '../token.ts';
import {
  accountFormat,
  address,
  config,
  inContext,
  type Methods,
  parse,
  readConfig,
  viewOf,
} from './params.ts';

const accountConfig = z.object({ ...readConfig, ...accountFormat }).nullish();
const tokenFilter = z.union([z.object({ mint: address }), z.object({ programId: address })]);
const MAX_ACCOUNTS = 100;

/** Methods that read accounts, and the faucet. */
export const accountMethods = (chain: Chain): Methods => {
  const { bank } = chain;

  const encoded = (account: Account | null, slot: number, format: AccountFormat | null | undefined) =>
    account && encodeAccount(bank, account, slot, format ?? {});

  /** Accounts of a program at `slot`: the current ones, and those that changed since then. */
  const ownedBy = (program: Key, slot: number): [Key, Account][] => {
    const recent = [...bank.recentlyChanged()].map((name) => keyNamed(name)!);
    const candidates = new Set([...bank.ownedBy(program), ...recent].map((key) => key.name));
    return [...candidates].flatMap((name) => {
      const key = keyNamed(name)!;
      const account = bank.accountAt(key, slot);
      return account && keyOf(account.owner()).name === program.name
        ? [[key, account] as [Key, Account]]
        : [];
    });
  };

  return {
    getAccountInfo: (params) => {
      const [key, given] = parse(params, address, accountConfig);
      const { slot } = viewOf(chain, given);
      return inContext(slot, encoded(bank.accountAt(key, slot), slot, given));
    },
    getMultipleAccounts: (params) => {
      const [keys, given] = parse(params, z.array(address), accountConfig);
      if (keys.length > MAX_ACCOUNTS) {
        throw invalidParams(`Too many inputs provided; max ${MAX_ACCOUNTS}`);
      }
      const { slot } = viewOf(chain, given);
      return inContext(
        slot,
        keys.map((key) => encoded(bank.accountAt(key, slot), slot, given)),
      );
    },
    getBalance: (params) => {
      const [key, given] = parse(params, address, config);
      const { slot } = viewOf(chain, given);
      return inContext(slot, u64(bank.accountAt(key, slot)?.lamports() ?? 0n));
    },
    getTokenAccountBalance: (params) => {
      const [key, given] = parse(params, address, config);
      const { slot } = viewOf(chain, given);
      const account = bank.accountAt(key, slot);
      if (!account) throw invalidParams('Invalid param: could not find account');
      const token = tokenAccount(account);
      if (!token) throw invalidParams('Invalid param: not a Token account');
      return inContext(slot, uiAmount(token.amount, decimalsOf(bank, token.mint, slot)));
    },
    getTokenSupply: (params) => {
      const [key, given] = parse(params, address, config);
      const { slot } = viewOf(chain, given);
      const account = bank.accountAt(key, slot);
      if (!account) throw invalidParams('Invalid param: could not find account');
      const mint = tokenMint(account);
      if (!mint) throw invalidParams('Invalid param: not a Token mint');
      return inContext(slot, uiAmount(mint.supply, mint.decimals));
    },
    getTokenAccountsByOwner: (params) => {
      const [owner, filter, given] = parse(params, address, tokenFilter, accountConfig);
      const { slot } = viewOf(chain, given);
      const programs = 'mint' in filter ? [TOKEN_PROGRAM, TOKEN_2022_PROGRAM] : [filter.programId];
      const found = programs
        .flatMap((program) => ownedBy(program, slot))
        .filter(([, account]) => {
          const token = tokenAccount(account);
          if (token?.owner.name !== owner.name) return false;
          return !('mint' in filter) || token.mint.name === filter.mint.name;
        });
      return inContext(
        slot,
        found.map(([key, account]) => ({ pubkey: key.name, account: encoded(account, slot, given) })),
      );
    },
    getMinimumBalanceForRentExemption: (params) => {
      const [bytes] = parse(params, z.number().int().min(0).max(10_485_760));
      return u64(bank.minimumBalance(bytes));
    },
    requestAirdrop: (params) => {
      const [key, lamports] = parse(params, address, z.number().int().positive());
      const signature = chain.airdrop(key, BigInt(lamports));
      if (!signature) throw internalError();
      return signature;
    },
  };
};
