import type { Keypair, PublicKey } from '@solana/web3.js';
import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { newId } from '../../shared/lib/id.ts';
import { type Change, signChanged } from './prepared.ts';
import type { Payer, SubmitterFixture } from './submitter.ts';

type Internal = typeof chainSubmitter.internal;
type Input = z.infer<Internal['prepareTransfer']['input']>;

/** The error code of a call, `ok` when it succeeds. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: unknown) => (error instanceof ServiceError ? error.code : String(error)),
  );

export type Prepared = { id: string; transaction: string; owner: Keypair };

/** The funding service as chain-submitter calls it, over a running fixture. */
export const transfersOver = (fixture: () => SubmitterFixture) => {
  const ask = <N extends keyof Internal>(name: N, input: z.infer<Internal[N]['input']>) =>
    call(fixture().fundingBus, chainSubmitter, name, input, { timeoutMs: 20_000 }) as Promise<
      z.infer<Internal[N]['output']>
    >;
  return {
    ask,
    /** A prepared withdrawal or refund of a payer. */
    prepare: async (
      { owner, account_id }: Payer,
      destination: PublicKey | string,
      amount: bigint,
      rest: Partial<Input> = {},
    ): Promise<Prepared> => {
      const id = rest.object_id ?? newId('wd');
      const { transaction } = await ask('prepareTransfer', {
        transfer: 'withdrawal',
        object_id: id,
        settlement_id: null,
        account_id,
        budget_account_id: account_id,
        owner: owner.publicKey.toBase58(),
        destination: destination.toString(),
        amount: `${amount}`,
        accepted_at: new Date().toISOString(),
        ...rest,
      });
      return { id, transaction, owner };
    },
    submit: ({ id, transaction, owner }: Prepared, change?: Change) =>
      ask('submitPrepared', { preparation_id: id, transaction: signChanged(transaction, owner, change) }),
    cancel: ({ id }: Pick<Prepared, 'id'>) =>
      ask('cancelPrepared', { transfer: 'withdrawal', object_id: id }),
    feePayerLamports: async (): Promise<number> => {
      const { chain, keys } = fixture();
      const options = { commitment: 'confirmed' };
      return (await chain.call<{ value: number }>('getBalance', keys.feePayer.address, options)).value;
    },
  };
};
