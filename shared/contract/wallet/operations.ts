import { z } from 'zod';
import {
  createdAt,
  label,
  MicroUsdc,
  MicroUsdcOrZero,
  page,
  pageQuery,
  SolanaAddress,
  signedTransaction,
  Timestamp,
  WalletId,
  WireTransaction,
} from '../primitives.ts';
import { operation } from '../service.ts';
import { transactionOperations } from './transactions.ts';

export const DelegationStatus = z.enum(['none', 'pending', 'active', 'exhausted', 'overwritten', 'revoked']);
const Delegation = z
  .strictObject({
    status: DelegationStatus.describe(
      'active: the platform may spend up to the spending limit. pending: submitted, and not seen on chain yet. exhausted: the limit ' +
        'is used up. overwritten: another program has become the delegate',
    ),
    delegate: SolanaAddress.nullable().meta({ description: 'The delegate authority on chain now' }),
    allowance: MicroUsdcOrZero.describe('What the platform may still spend'),
    as_of: Timestamp.meta({
      description: 'When the chain was read: now, or earlier if it cannot be read now',
    }),
  })
  .meta({ id: 'Delegation', description: 'Read from the chain' });
export const Wallet = z
  .strictObject({
    wallet_id: WalletId,
    kind: z
      .enum(['external', 'provisioned'])
      .describe('external: linked by its owner. provisioned: made by a client of ours'),
    address: SolanaAddress.describe('The public key of the wallet'),
    token_account: SolanaAddress.describe('The account on chain that holds its USDC'),
    label: z
      .string()
      .nullable()
      .meta({ description: 'Chosen by the owner', examples: ['Main wallet'] }),
    token_account_closed: z.boolean().meta({
      description: 'Whether the token account existed and was closed, or was given to another owner',
    }),
    balance: MicroUsdcOrZero.describe('The USDC in the wallet, as of `delegation.as_of`'),
    delegation: Delegation,
    created_at: createdAt,
  })
  .meta({ id: 'Wallet' });
/**
 * A transaction for the user's own key. Every signature slot is empty, including the fee payer's.
 */
const Prepared = z
  .strictObject({
    transaction: WireTransaction.describe('For the owner to sign. Every signature slot is empty'),
    expires_at: Timestamp.describe(
      'When the transaction expires, after 60 to 90 s. Then have it prepared again',
    ),
  })
  .meta({
    id: 'PreparedTransaction',
    description: 'To be signed by the wallet and sent back before it expires',
  });
const Proof = z
  .strictObject({
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
        description:
          'Base58 of the Ed25519 signature over the UTF-8 bytes of message, or over Solana’s off-chain envelope of ' +
          'them (version 0 or 1, one signer, application domain of zeros), as a Ledger signs',
        examples: [
          '5VERv8NMvzbJMEkV8xnrLkEaWRtSz9CosKDYjCJjBRnbJLgp8uirBgmQpjKhoR4tjF3ZpRzrFmBV6UjKdiSZkQUW',
        ],
      }),
  })
  .meta({
    id: 'WalletProof',
    description: 'Shows that the caller holds the private key. Valid for 5 minutes',
  });
const link = {
  public_key: SolanaAddress.describe('The public key of the wallet'),
  proof: Proof,
  label: label(64, 'Main wallet').optional().describe('A name for the owner'),
};
/** Any text without NUL, which Postgres cannot store. */
const Backup = z
  .string()
  .min(1)
  .max(8192)
  .regex(/^[^\0]+$/, 'must be text without NUL')
  .meta({
    description: 'Ciphertext of the private key, which the service cannot read',
    examples: ['eyJhbGciOiJkaXIifQ..Zk3mQ9'],
  });
const WalletBackup = z.strictObject({ wallet_id: WalletId, backup: Backup }).meta({ id: 'WalletBackup' });
const byId = z.strictObject({ wallet_id: WalletId });
/**
 * Changes the delegation. The service prepares the transaction, the owner signs it, and the same
 * operation submits it.
 */
const byOwnersSignature = {
  access: ['jwt'],
  // Submit (10 s), wait for the confirmation (15 s), read the chain.
  timeoutSeconds: 29,
  params: byId,
  body: signedTransaction,
  output: z.union([Wallet, Prepared]),
  errors: ['not_found', 'conflict', 'insufficient_funds', 'delegation_inactive', 'payment_failed'],
} as const;

/** The public operations of wallet. */
export const operations = {
  link: operation({
    summary: 'Link an existing wallet',
    description:
      'A public key belongs to one account. A repeat that changes nothing returns the same wallet.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/wallets', status: 201 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['wallet_linked'],
    stepUp: true,
    body: z.strictObject(link).meta({ id: 'LinkWalletRequest' }),
    output: Wallet,
    errors: ['conflict'],
  }),
  provision: operation({
    summary: 'Provision a wallet for a key pair that the user’s client has generated',
    description:
      'Links the wallet and creates its token account, which the platform pays for. The private key never reaches the service.',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/wallets/provision', status: 201 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['wallet_linked'],
    stepUp: true,
    limits: [{ points: 5, windowSeconds: 60, per: 'account' }],
    withoutRedis: 'refuse',
    timeoutSeconds: 20,
    body: z
      .strictObject({
        ...link,
        backup: Backup.optional(),
      })
      .meta({ id: 'ProvisionWalletRequest' }),
    output: Wallet,
    errors: ['conflict'],
  }),
  list: operation({
    summary: 'List wallets with balance and delegation',
    journey: 'read',
    http: { method: 'GET', path: '/v1/wallets', status: 200 },
    access: ['jwt'],
    query: z.strictObject(pageQuery),
    output: page(Wallet),
    errors: [],
  }),
  backup: operation({
    summary: 'Get the backup of a provisioned wallet',
    description: 'Returns the stored ciphertext.',
    journey: 'fund',
    http: { method: 'GET', path: '/v1/wallets/:wallet_id/backup', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['backup_read'],
    stepUp: true,
    params: byId,
    output: WalletBackup,
    errors: ['not_found'],
  }),
  replaceBackup: operation({
    summary: 'Replace the backup of a provisioned wallet',
    description:
      'For a backup that further devices can open. The proof shows that the caller holds the key. A repeat returns the same answer.',
    journey: 'fund',
    http: { method: 'PATCH', path: '/v1/wallets/:wallet_id/backup', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'step_up' },
    notes: ['backup_replaced'],
    stepUp: true,
    params: byId,
    body: z
      .strictObject({
        proof: Proof,
        replaces: Backup.meta({
          description: 'The backup as it was read. If it was replaced since, the answer is conflict',
        }),
        backup: Backup,
      })
      .meta({ id: 'ReplaceWalletBackupRequest' }),
    output: WalletBackup,
    errors: ['not_found', 'conflict'],
  }),
  onboarding: operation({
    summary: 'Prepare the transaction that lets the platform spend up to a spending limit',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/wallets/:wallet_id/onboarding', status: 200 },
    access: ['jwt'],
    authorisedBy: { jwt: 'wallet_signature' },
    params: byId,
    body: z
      .strictObject({ allowance: MicroUsdc.describe('What the platform may spend in total') })
      .meta({ id: 'OnboardingRequest' }),
    output: Prepared,
    errors: ['not_found', 'conflict'],
  }),
  delegate: operation({
    summary: 'Submit the signed delegation, or prepare it again',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/wallets/:wallet_id/delegate', status: 200 },
    authorisedBy: { jwt: 'wallet_signature' },
    ...byOwnersSignature,
  }),
  revoke: operation({
    summary: 'Prepare or submit the transaction that ends the delegation',
    journey: 'fund',
    http: { method: 'POST', path: '/v1/wallets/:wallet_id/revoke', status: 200 },
    authorisedBy: { jwt: 'wallet_signature' },
    ...byOwnersSignature,
  }),
  ...transactionOperations,
};
