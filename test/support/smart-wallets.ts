import {
  createAssociatedTokenAccountIdempotentInstruction,
  createMintToInstruction,
} from '@solana/spl-token';
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js';
import { newWalletKeys, payByWallet, SWIG, WALLET_STATE_BYTES } from './stand-in-programs.ts';
import { keypairOf, type SubmitterFixture } from './submitter.ts';

const RENT = 2_000_000;

/** Smart wallets and lookup tables of buyers on the local chain of a fixture. */
export const smartWalletsOver = (fixture: () => SubmitterFixture) => {
  const minterOf = () => keypairOf(fixture().keys.mintAuthority.secretKey);

  /** A new wallet of the stand-in for Swig, with a balance in its vault. */
  const wallet = async (balance: bigint) => {
    const { outside, land } = fixture();
    const [{ state, vault }, minter, holder] = [newWalletKeys(), minterOf(), Keypair.generate()];
    const { mint } = outside;
    const source = outside.tokenAccount(vault);
    await land(
      [
        SystemProgram.createAccount({
          fromPubkey: minter.publicKey,
          newAccountPubkey: state.publicKey,
          lamports: RENT,
          space: WALLET_STATE_BYTES,
          programId: new PublicKey(SWIG),
        }),
        createAssociatedTokenAccountIdempotentInstruction(minter.publicKey, source, vault, mint),
        createMintToInstruction(mint, source, minter.publicKey, balance),
      ],
      [minter, state],
    );
    const accounts = { source, mint, vault, state: state.publicKey, holder: holder.publicKey };
    return {
      holder,
      vault,
      state: state.publicKey,
      source,
      /** The instruction by which the wallet pays. */
      pay: (to: PublicKey, amount: bigint): TransactionInstruction =>
        payByWallet({ ...accounts, destination: outside.tokenAccount(to) }, amount),
    };
  };

  /** A lookup table of these addresses, `slots` after it was made. It is final after 32. */
  const lookupTable = async (addresses: PublicKey[], { slots = 40 } = {}) => {
    const { chain, land } = fixture();
    const [minter, authority] = [minterOf(), Keypair.generate()];
    const recentSlot = await chain.call<number>('getSlot', { commitment: 'finalized' });
    const [create, key] = AddressLookupTableProgram.createLookupTable({
      ...{ authority: authority.publicKey, payer: minter.publicKey, recentSlot },
    });
    const ours = { lookupTable: key, authority: authority.publicKey };
    const change = (instruction: TransactionInstruction) => land([instruction], [minter, authority]);
    const extending = (more: PublicKey[]) =>
      AddressLookupTableProgram.extendLookupTable({ ...ours, payer: minter.publicKey, addresses: more });
    await land([create, extending(addresses)], [minter, authority]);
    await chain.call('chain_advance', slots);
    const state = {
      ...{ deactivationSlot: 2n ** 64n - 1n, lastExtendedSlot: 0, lastExtendedSlotStartIndex: 0 },
      addresses,
    };
    return {
      account: new AddressLookupTableAccount({ key, state }),
      extend: (more: PublicKey[]) => change(extending(more)),
      deactivate: () => change(AddressLookupTableProgram.deactivateLookupTable(ours)),
      close: () =>
        change(AddressLookupTableProgram.closeLookupTable({ ...ours, recipient: minter.publicKey })),
    };
  };

  return { wallet, lookupTable };
};
