import { z } from 'zod';
import { operatorOperations } from './operator.ts';
import {
  AccountId,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  page,
  pageQuery,
  SolanaAddress,
  Timestamp,
  WalletId,
  WireTransaction,
} from './primitives.ts';
import { internalOperation, operation, service } from './service.ts';
import { transactionOperations } from './wallet.transactions.ts';

const DelegationStatus = z.enum(['none', 'pending', 'active', 'exhausted', 'overwritten', 'revoked']);

const Delegation = z
  .strictObject({
    status: DelegationStatus,
    delegate: SolanaAddress.nullable().meta({ description: 'The delegate authority on chain now' }),
    allowance: MicroUsdcOrZero,
    as_of: Timestamp.meta({
      description: 'When the chain was seen so: now, or earlier while it cannot be read',
    }),
  })
  .meta({ id: 'Delegation', description: 'Read from the chain' });

export const Wallet = z
  .strictObject({
    wallet_id: WalletId,
    kind: z.enum(['external', 'provisioned']),
    address: SolanaAddress,
    token_account: SolanaAddress,
    label: z.string().nullable(),
    token_account_closed: z.boolean().meta({
      description: 'The token account was there once and is gone, or was given to another owner',
    }),
    balance: MicroUsdcOrZero,
    delegation: Delegation,
    created_at: Timestamp,
  })
  .meta({ id: 'Wallet' });

/** A transaction for the user's own key: every signature slot empty, the fee payer's too. */
const Prepared = z
  .strictObject({ transaction: WireTransaction, expires_at: Timestamp })
  .meta({ id: 'Prepared', description: 'To be signed by the wallet and sent back before it expires' });

const Proof = z.strictObject({
  message: z
    .string()
    .max(512)
    .meta({
      description:
        'Four lines: "Quittance wallet proof", "account: <account_id>", "wallet: <public_key>", "issued_at: <time>"',
      examples: [
        'Quittance wallet proof\naccount: acct_01kaj5w0c0e8h9x2m4n6p8q0rs\n' +
          'wallet: Ai4gvNadtxC6Kjie32m77uq7kjPzqe79sEDs6mawc25u\nissued_at: 2026-11-21T10:00:00.000Z',
      ],
    }),
  signature: z
    .string()
    .regex(/^[1-9A-HJ-NP-Za-km-z]{64,88}$/, 'must be base58')
    .meta({
      description: 'Base58 of the Ed25519 signature over the UTF-8 bytes of message',
      examples: ['5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW'],
    }),
});
const link = {
  public_key: SolanaAddress,
  proof: Proof,
  label: label(64, 'Main wallet').optional(),
};
/** Any text but NUL, which is no character to Postgres. */
const Backup = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[^\0]+$/, 'must be text without NUL')
  .meta({ examples: ['eyJhbGciOiJkaXIifQ..Zk3mQ9'] });
const byId = z.strictObject({ wallet_id: WalletId });
const signed = z.strictObject({
  transaction: WireTransaction.optional().meta({
    description: 'Signed by the owner; leave out to have one prepared afresh',
  }),
});

/** What changes the delegation: prepared by the service, signed by the owner, submitted by the same call. */
const byOwnersSignature = {
  access: ['jwt'],
  // Submit (10 s), wait for the confirmation (15 s), look at the chain.
  timeoutSeconds: 29,
  params: byId,
  body: signed,
  output: z.union([Wallet, Prepared]),
  errors: ['not_found', 'conflict', 'insufficient_funds', 'delegation_inactive', 'payment_failed'],
} as const;

export const wallet = service({
  name: 'wallet',
  operations: {
    link: operation({
      summary: 'Link a wallet the user already has',
      description:
        'A public key belongs to one account; a repeat that changes nothing answers the same wallet.',
      http: { method: 'POST', path: '/v1/wallets', status: 201 },
      access: ['jwt'],
      stepUp: true,
      body: z.strictObject(link),
      output: Wallet,
      errors: ['conflict'],
    }),
    provision: operation({
      summary: 'Provision a wallet from a key pair made in the user’s own client',
      description:
        'Like linking, and the platform pays for the token account. The private key never reaches the service.',
      http: { method: 'POST', path: '/v1/wallets/provision', status: 201 },
      access: ['jwt'],
      stepUp: true,
      limits: [{ points: 5, windowSeconds: 60, per: 'account' }],
      withoutRedis: 'refuse',
      timeoutSeconds: 20,
      body: z.strictObject({
        ...link,
        backup: Backup.optional().meta({ description: 'Ciphertext of the key, opaque to the service' }),
      }),
      output: Wallet,
      errors: ['conflict'],
    }),
    list: operation({
      summary: 'List wallets with balance and delegation',
      http: { method: 'GET', path: '/v1/wallets', status: 200 },
      access: ['jwt'],
      query: z.strictObject(pageQuery),
      output: page(Wallet),
      errors: [],
    }),
    backup: operation({
      summary: 'Read the backup of a provisioned wallet',
      description: 'The ciphertext as it was given.',
      http: { method: 'GET', path: '/v1/wallets/:wallet_id/backup', status: 200 },
      access: ['jwt'],
      stepUp: true,
      params: byId,
      output: z.strictObject({ wallet_id: WalletId, backup: z.string() }),
      errors: ['not_found'],
    }),
    replaceBackup: operation({
      summary: 'Replace the backup of a provisioned wallet',
      description:
        'For what opens it on a further device. Who replaces it proves to hold the key; a repeat answers the same.',
      http: { method: 'PATCH', path: '/v1/wallets/:wallet_id/backup', status: 200 },
      access: ['jwt'],
      stepUp: true,
      params: byId,
      body: z.strictObject({
        proof: Proof,
        replaces: Backup.meta({ description: 'As it was read: conflict when another has taken its place' }),
        backup: Backup,
      }),
      output: z.strictObject({ wallet_id: WalletId, backup: z.string() }),
      errors: ['not_found', 'conflict'],
    }),
    onboarding: operation({
      summary: 'Prepare the transaction that lets the platform spend up to an allowance',
      http: { method: 'POST', path: '/v1/wallets/:wallet_id/onboarding', status: 200 },
      access: ['jwt'],
      params: byId,
      body: z.strictObject({ allowance: MicroUsdc }),
      output: Prepared,
      errors: ['not_found', 'conflict'],
    }),
    delegate: operation({
      summary: 'Submit the signed delegation, or prepare it afresh',
      http: { method: 'POST', path: '/v1/wallets/:wallet_id/delegate', status: 200 },
      ...byOwnersSignature,
    }),
    revoke: operation({
      summary: 'Prepare or submit the transaction that ends the delegation',
      http: { method: 'POST', path: '/v1/wallets/:wallet_id/revoke', status: 200 },
      ...byOwnersSignature,
    }),
    ...transactionOperations,
  },
  internal: {
    ...operatorOperations,
    countAuthorities: internalOperation({
      summary: 'How many wallets name each delegate authority, and how many of them let it spend',
      callers: ['operator'],
      input: z.strictObject({}),
      output: z.array(
        z.strictObject({ authority: SolanaAddress, wallets: z.int().min(0), active: z.int().min(0) }),
      ),
    }),
    find: internalOperation({
      summary:
        'The addresses of an account’s wallet; without wallet_id its default wallet. Null when there is none.',
      callers: ['settlement', 'funding', 'identity'],
      input: z.strictObject({ account_id: AccountId, wallet_id: WalletId.optional() }),
      output: z
        .strictObject({
          wallet_id: WalletId,
          owner: SolanaAddress,
          token_account: SolanaAddress,
          authority: SolanaAddress,
        })
        .nullable(),
    }),
    setDefault: internalOperation({
      summary:
        'Makes a wallet of the account the one that pays where none is named; null: the first linked. False when it is not the account’s.',
      callers: ['identity'],
      input: z.strictObject({ account_id: AccountId, wallet_id: WalletId.nullable() }),
      output: z.strictObject({ found: z.boolean() }),
    }),
  },
  events: {
    /** Seen on chain, whoever did it: the delegation stands otherwise, or the token account was closed or came back. */
    delegationChanged: z.strictObject({
      wallet_id: WalletId,
      account_id: AccountId,
      owner: SolanaAddress,
      status: DelegationStatus,
      previous_status: DelegationStatus,
      token_account_closed: z.boolean(),
      delegate: SolanaAddress.nullable(),
      allowance: MicroUsdcOrZero,
      balance: MicroUsdcOrZero,
      slot: z.int().min(0),
      observed_at: Timestamp,
    }),
  },
  jobs: {},
  consumes: [
    'chain-submitter.delegationProgressed',
    'chain-submitter.tokenAccountProgressed',
    'settlement.issued',
    'settlement.finalized',
    'settlement.reversed',
    'funding.moved',
  ],
});
