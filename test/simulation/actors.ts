import bs58 from 'bs58';
import { tokenAccountOf } from '../../services/chain-submitter/chain/addresses.ts';
import type { Network } from '../../services/chain-submitter/ledger/model/network.ts';
import { PROGRAMS } from '../../services/chain-submitter/ledger/model/programs.ts';
import { keySigner, type Signers } from '../../services/chain-submitter/signing/signer.ts';
import { privateKeyFromSeed, rawPublicKey } from '../../shared/lib/chain/ed25519.ts';
import type { PublicKeys, SigningKey } from '../../shared/lib/tokens/keys.ts';

/**
 * Keys and addresses that all runs share. They are created once, because deriving them costs more
 * than a run.
 */
export const TOKEN_PROGRAM: string = PROGRAMS.token;
export const decode = (address: string): Uint8Array => bs58.decode(address);

const seedOf = (name: string) => Buffer.from(name.padEnd(32, '.'));
export const addressOf = (name: string) => bs58.encode(rawPublicKey(privateKeyFromSeed(seedOf(name))));
const signerOf = (name: string) =>
  keySigner(bs58.encode(Buffer.concat([seedOf(name), decode(addressOf(name))])));
const signingKey = (use: 'quote' | 'settlement'): SigningKey => ({
  kid: `test.${use}.1`,
  key: privateKeyFromSeed(seedOf(use)),
});

const mint = addressOf('mint');
const signers: Signers = {
  feePayers: [signerOf('fee payer')],
  delegateAuthorities: [signerOf('authority')],
  fundingAuthority: null,
};
const feeWallet = addressOf('fee wallet');
const network: Network = {
  mint,
  feePayer: signers.feePayers[0]!.publicKey,
  payingFeePayers: [signers.feePayers[0]!.publicKey],
  feePayers: signers.feePayers.map(({ publicKey }) => publicKey),
  delegateAuthorities: signers.delegateAuthorities.map(({ publicKey }) => publicKey),
  fundingAuthority: null,
  feeWallet,
  feeAccount: tokenAccountOf(feeWallet, mint),
  computeBudget: null,
};

const quoteKey = signingKey('quote');
const settlementKey = signingKey('settlement');
const publicKeys: PublicKeys = new Map(
  ([quoteKey, settlementKey] as const).map(({ kid, key }) => {
    const use = kid.split('.')[1] as 'quote' | 'settlement';
    return [kid, { kid, env: 'test', use, x: '', key, retiredAt: null, compromisedAt: null }];
  }),
);

/** The last two characters are the cell. */
const id = (prefix: string, number: number) =>
  `${prefix}_01h455vb4pex5vsknk08${String(number).padStart(4, '0')}00`;

export type Actors = typeof actors;
export const actors = {
  mint,
  network,
  signers,
  quoteKey,
  settlementKey,
  publicKeys,
  vendor: {
    account_id: id('acct', 9),
    service_id: '00000000-0000-4000-8000-000000000009',
    payout: addressOf('vendor'),
    key: privateKeyFromSeed(seedOf('vendor')),
    tokenAccount: tokenAccountOf(addressOf('vendor'), mint),
  },
  payers: [0, 1].map((number) => ({
    account_id: id('acct', number),
    wallet_id: id('wal', number),
    owner: addressOf(`payer ${number}`),
    authority: network.delegateAuthorities[0]!,
    token_account: tokenAccountOf(addressOf(`payer ${number}`), mint),
  })),
  quoteId: (number: number) => id('q', number),
  delegateId: (number: number) => id('del', number),
};
