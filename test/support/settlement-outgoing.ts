import { createHash } from 'node:crypto';
import type { z } from 'zod';
import type { Bus } from '../../shared/bus/connect.ts';
import type { chainSubmitter, OutgoingReason, Progress } from '../../shared/contract/chain-submitter.ts';
import { encodeBase58 } from '../../shared/lib/base58.ts';
import { FEE_PAYER, NETWORK, SOURCE } from './settlement-incoming.ts';
import { MINT } from './settlement-quotes.ts';

/**
 * chain-submitter as a stand-in for payments to vendors that do not use Quittance. It signs every
 * payment unless a test sets another answer.
 */
type Signed = z.infer<typeof chainSubmitter.internal.signOutgoing.input>;

export const signer = {
  /** What was signed, by attempt, in the order of the calls. Null: ended before it was signed. */
  signed: new Map<string, Signed | null>(),
  /** The refusals of signOutgoing, by the address that is paid. */
  refusals: new Map<string, OutgoingReason>(),
  /** What observeOutgoing and closeOutgoing answer about a settlement that was signed. */
  progress: new Map<string, Partial<Progress>>(),
  /** The transactions that reports have named. */
  reported: [] as (string | null)[],
  /** The attempts that signed another payment before. */
  conflicts: new Set<string>(),
  /** What the chain has of attempts whose record a restore may have lost. */
  found: 'none' as 'none' | 'paid' | 'undecided',
  candidates: [] as string[],
  /** The lost times that calls have named. */
  lost: [] as (Signed['lost'] | null)[],
  /** Whether it answers at all. */
  answers: true,
  /** How many calls were not answered. */
  unanswered: 0,
};

type Attempt = Pick<Signed, 'account_id' | 'payment_attempt_id' | 'settlement_id'>;
const keyOf = ({ account_id, payment_attempt_id }: Attempt) => `${account_id}:${payment_attempt_id}`;
const bytesOf = (key: string) => createHash('sha512').update(key).digest();

const sign = ({ message_hash: _, lost, ...payment }: Signed) => {
  signer.lost.push(lost ?? null);
  if (signer.conflicts.has(payment.payment_attempt_id))
    return { error: { code: 'conflict', message: 'the payment_attempt_id has signed another payment' } };
  const key = keyOf(payment);
  const known = signer.signed.get(key);
  if (known === null) return { outcome: 'refused', reason: 'closed', message: 'the payment was ended' };
  if (known === undefined && lost && signer.found === 'undecided') return { outcome: 'undecided' };
  const reason = signer.refusals.get(payment.pay_to);
  if (known === undefined && reason !== undefined) {
    signer.signed.set(key, null);
    return { outcome: 'refused', reason, message: `refused: ${reason}` };
  }
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(payment))
    throw new Error('A repeat of signOutgoing has another input.');
  signer.signed.set(key, payment);
  return {
    outcome: 'signed',
    transaction: bytesOf(key).toString('base64'),
    message_hash: bytesOf(key).subarray(0, 32).toString('hex'),
    source_account: SOURCE,
    tx_hash: signer.progress.get(payment.settlement_id)?.tx_hash ?? null,
  };
};

/** Its answer to closeOutgoing and observeOutgoing. */
export const closeOutgoing = (payment: Attempt): Progress => {
  const key = keyOf(payment);
  if (!signer.signed.has(key)) signer.signed.set(key, null);
  const failure = { code: 'payment_failed' as const, message: 'the payment was ended' };
  const base = { object_id: payment.settlement_id, tx_hash: null, slot: null };
  return signer.signed.get(key) === null
    ? { ...base, status: 'failed', generation: 0, failure }
    : {
        ...base,
        status: 'signed',
        generation: 1,
        failure: null,
        ...signer.progress.get(payment.settlement_id),
      };
};

/** Serves the operations of chain-submitter for outgoing payments. */
export const serveOutgoing = async (bus: Bus): Promise<void> => {
  const serve = <I>(operation: string, answer: (input: I) => unknown) =>
    bus.nc.subscribe(`int.chain-submitter.${operation}`, {
      callback: (_error, msg) => {
        if (!signer.answers) {
          signer.unanswered += 1;
          return;
        }
        const answered = answer(msg.json<{ input: I }>().input);
        const isError = 'error' in (answered as object);
        msg.respond(JSON.stringify(isError ? answered : { ok: answered }));
      },
    });
  serve('signOutgoing', sign);
  serve('closeOutgoing', (input: Attempt & { message_hash?: string | null }) =>
    input.message_hash && !signer.signed.has(keyOf(input))
      ? { error: { code: 'conflict', message: 'the record of the signed payment is lost' } }
      : closeOutgoing(input),
  );
  serve('observeOutgoing', (input: Signed & { tx_hash: string | null }) => {
    signer.reported.push(input.tx_hash);
    return closeOutgoing(input);
  });
  serve('findLostOutgoing', () => ({ found: signer.found, transactions: signer.candidates }));
  await bus.nc.flush();
};

/** An address that nobody has paid before. */
export const newPayee = (name: string): string =>
  encodeBase58(createHash('sha256').update(name).digest().fill(7, 0, 1));

/** The requirement of a vendor's 402, version 2. */
export const requirementOf = (payTo: string, amount = 1_000_000n, more: Record<string, unknown> = {}) => ({
  scheme: 'exact',
  network: NETWORK,
  amount: `${amount}`,
  asset: MINT,
  payTo,
  maxTimeoutSeconds: 60,
  extra: { feePayer: FEE_PAYER },
  ...more,
});
