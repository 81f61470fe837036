import { Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js';
import bs58 from 'bs58';
import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import { chainSubmitter, type Lost } from '../../shared/contract/chain-submitter.ts';
import { newId } from '../../shared/lib/id.ts';
import { keypairOf, type Payer, type SubmitterFixture } from './submitter.ts';

type Internal = typeof chainSubmitter.internal;
type Operation = 'signOutgoing' | 'closeOutgoing' | 'observeOutgoing' | 'findLostOutgoing';
type SignInput = z.infer<Internal['signOutgoing']['input']>;
type Signed = z.infer<Internal['signOutgoing']['output']>;

/** The price of the payments, in micro-units. */
export const PRICE = 40_000n;

/** Payments to a vendor that does not use Quittance. The test acts as its facilitator. */
export const outgoingPaymentsOver = (
  fixture: () => SubmitterFixture,
  vendor: () => Payer,
  facilitator: Keypair = Keypair.generate(),
) => {
  const ask = <N extends Operation>(
    name: N,
    input: z.infer<Internal[N]['input']>,
  ): Promise<z.infer<Internal[N]['output']>> =>
    call(fixture().settlementBus, chainSubmitter, name, input, { timeoutMs: 20_000 }) as never;

  /** The transaction of bytes, with the fee payer's signature. */
  const cosigned = (transaction: string): { signature: string; wire: string } => {
    const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'));
    signed.sign([facilitator]);
    const wire = Buffer.from(signed.serialize()).toString('base64');
    return { signature: bs58.encode(signed.signatures[0]!), wire };
  };
  return {
    ask,
    facilitator,
    cosigned,
    /** Gives the facilitator lamports for its fees. */
    fundFacilitator: async (): Promise<void> => {
      const from = keypairOf(fixture().keys.feePayer.secretKey);
      const transfer = SystemProgram.transfer({
        fromPubkey: from.publicKey,
        toPubkey: facilitator.publicKey,
        lamports: 1_000_000_000,
      });
      await fixture().land([transfer], [from]);
    },
    /** A payment of a wallet to the vendor, with new ids. */
    inputOf: (buyer: Payer, changes: Partial<SignInput> = {}): SignInput => ({
      account_id: buyer.account_id,
      payment_attempt_id: newId('evt'),
      settlement_id: newId('stl'),
      owner: buyer.owner.publicKey.toBase58(),
      authority: fixture().authority,
      pay_to: vendor().owner.publicKey.toBase58(),
      fee_payer: facilitator.publicKey.toBase58(),
      amount: `${PRICE}`,
      accepted_at: new Date().toISOString(),
      memo: null,
      ...changes,
    }),
    sign: (input: SignInput) => ask('signOutgoing', input),
    close: ({ lost, message_hash, ...input }: SignInput) =>
      ask('closeOutgoing', {
        ...attemptOf(input),
        message_hash,
        lost: lost ? { ...lost, ...termsOf(input) } : null,
      }),
    /** Whether the chain has the payment, which no record has. */
    findLost: ({ account_id, payment_attempt_id, pay_to, amount, memo }: SignInput, lost: Lost) =>
      ask('findLostOutgoing', { account_id, payment_attempt_id, pay_to, amount, memo, lost }),
    /** Deletes all records of a payment, as a restore of an older backup does. */
    lose: async ({ account_id, payment_attempt_id }: SignInput): Promise<void> => {
      for (const table of ['transactions', 'outgoing_messages', 'intents'])
        await fixture().admin.query(`delete from ${table} where intent_id = $1`, [
          `out:${account_id}:${payment_attempt_id}`,
        ]);
    },
    observe: (input: SignInput, tx_hash: string | null = null) =>
      ask('observeOutgoing', { ...attemptOf(input), tx_hash }),
    /** Signs bytes as the fee payer and sends them. Returns the transaction's signature. */
    submit: async (answer: Signed): Promise<string> => {
      const { signature, wire } = cosigned(bytesOf(answer));
      await fixture().chain.call('sendTransaction', wire, { encoding: 'base64', skipPreflight: true });
      return signature;
    },
    /** The intent of a payment as it is stored; undefined without one. */
    intentOf: async ({ account_id, payment_attempt_id }: SignInput) => {
      const id = `out:${account_id}:${payment_attempt_id}`;
      const { rows } = await fixture().admin.query(
        'select status, generation, signature from intents where intent_id = $1',
        [id],
      );
      return rows[0] as { status: string; generation: number; signature: string | null } | undefined;
    },
  };
};

const attemptOf = ({ account_id, payment_attempt_id, settlement_id }: SignInput) => ({
  ...{ account_id, payment_attempt_id, settlement_id },
});

const termsOf = ({ owner, authority, pay_to, fee_payer, amount, memo }: SignInput) => ({
  ...{ owner, authority, pay_to, fee_payer, amount, memo },
});

/** The bytes of a signed payment. @throws for a refusal */
export const bytesOf = (answer: Signed): string => {
  if (answer.outcome !== 'signed') throw new Error(JSON.stringify(answer));
  return answer.transaction;
};

/** The reason of a refusal, or else `signed`. */
export const reasonOf = (answer: Signed): string =>
  answer.outcome === 'refused' ? answer.reason : answer.outcome;
