import { z } from 'zod';
import { accountActivityOperation } from '../account-activity.ts';
import { inspectionField, operatorOperations } from '../operator.ts';
import { AccountId, SolanaAddress, WalletId } from '../primitives.ts';
import { listSentEvents } from '../sent-events.ts';
import { internalOperation, operatorOperation } from '../service.ts';

/** A wallet of an account, as a payment needs it. */
const FoundWallet = z.strictObject({
  wallet_id: WalletId,
  owner: SolanaAddress,
  token_account: SolanaAddress,
  authority: SolanaAddress,
});

/** The internal operations of wallet. */
export const internal = {
  ...operatorOperations,
  listSentEvents: listSentEvents(['identity', 'settlement']),
  getAccountActivity: accountActivityOperation,
  countAuthorities: operatorOperation({
    summary: 'How many wallets name each delegate authority, and for how many of them it is active',
    input: z.strictObject({}),
    output: z.array(
      z.strictObject({ authority: SolanaAddress, wallets: z.int().min(0), active: z.int().min(0) }),
    ),
  }),
  findWallets: operatorOperation({
    summary: 'The wallets with this id or address',
    input: z.strictObject({ text: z.string().min(1).max(64), ...inspectionField }),
    output: z.array(
      z.strictObject({
        account_id: AccountId,
        wallet_id: WalletId,
        owner: SolanaAddress,
        token_account: SolanaAddress,
        kind: z.enum(['external', 'provisioned']),
      }),
    ),
  }),
  find: internalOperation({
    summary:
      'The addresses of an account’s wallet, without wallet_id those of its default wallet. Null if there is none.',
    callers: ['settlement', 'funding', 'identity'],
    input: z.strictObject({ account_id: AccountId, wallet_id: WalletId.optional() }),
    output: FoundWallet.nullable(),
  }),
  findDefaults: internalOperation({
    summary:
      'The addresses of the default wallet of each account, in the order of the input. Null if there is none.',
    callers: ['settlement'],
    input: z.strictObject({ account_ids: z.array(AccountId).max(500) }),
    output: z.array(FoundWallet.nullable()),
  }),
  setDefault: internalOperation({
    summary:
      'Sets the account’s default wallet, which pays if no wallet is named. wallet_id null: the first linked wallet. `found` is false if the account does not have the wallet.',
    callers: ['identity'],
    input: z.strictObject({ account_id: AccountId, wallet_id: WalletId.nullable() }),
    output: z.strictObject({ found: z.boolean() }),
  }),
};
