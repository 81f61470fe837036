import { createHash, randomBytes } from 'node:crypto';
import type { z } from 'zod';
import type { Bus } from '../../shared/bus/connect.ts';
import type { Progress } from '../../shared/contract/chain-submitter.ts';
import type { identity } from '../../shared/contract/index.ts';
import { encodeBase58 } from '../../shared/lib/base58.ts';
import { newId } from '../../shared/lib/id.ts';
import { assemble, messageHashOf } from '../../shared/lib/wire-transaction.ts';
import { MINT, PAYOUT, vendor } from './settlement-quotes.ts';

/**
 * chain-submitter as a stand-in for payments that another client signed, and the vendor's terms.
 */
export const FEE_PAYER = 'Stake11111111111111111111111111111111111111';
export const PAYER = 'Vote111111111111111111111111111111111111111';
export const SOURCE = 'Config1111111111111111111111111111111111111';
export const NETWORK = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

export const incomingSettings = {
  x402Network: NETWORK,
  fee: { bps: 50n, minMicro: 10_000n },
  accruedFee: { bps: 50n, minMicro: 2000n, solPriceMicro: 200_000_000n },
  credit: { firstMicro: 100_000n, perPaid: 4n, laterMicro: 5_000_000n },
};

type Service = NonNullable<z.infer<(typeof identity.internal.findService)['output']>>;
/** The services of identity. */
export const incomingServices = new Map<string, Service>();
const at = '2026-11-21T10:00:00.000Z';
/** A service of a new account, as the principal of its key. */
export const newVendor = (ids = { account_id: newId('acct'), service_id: vendor.service_id }) => {
  incomingServices.set(ids.service_id, {
    ...ids,
    name: 'Weather',
    price: '50000',
    payout_address: PAYOUT,
    next_payout: null,
    key_grace_hours: 24,
    redeem_window_seconds: 900,
    status: 'active',
    created_at: at,
  });
  return { kind: 'service_key', key_id: 'k', ...ids } as const;
};

/** Wire bytes with two signature slots and a message that occurs once. */
export const newTransaction = (): string =>
  assemble(Buffer.concat([Buffer.of(2), randomBytes(199)]), [null, null]).toString('base64');
/** The same message with another fee payer's slot. */
export const withOtherSlot = (transaction: string): string => {
  const wire = Buffer.from(transaction, 'base64');
  wire.fill(7, 1, 65);
  return wire.toString('base64');
};
export const hashOf = (transaction: string): string => messageHashOf(transaction)!;
/** The transaction id that the stand-in gives a message. */
export const txOf = (transaction: string): string =>
  encodeBase58(createHash('sha512').update(Buffer.from(transaction, 'base64').subarray(129)).digest());

type Refused = { outcome: 'refused'; reason: string; message: string };
type Intent = { settlementId: string; txHash: string | null };
export const submitter = {
  /** The intents by message hash. A null transaction: ended before it was signed. */
  intents: new Map<string, Intent>(),
  /** The refusals of checkIncoming and submitIncoming, by message hash. */
  checks: new Map<string, Refused>(),
  submits: new Map<string, Refused>(),
  /** The messages that the chain has, and whose records a restore has lost. */
  lost: new Set<string>(),
  /** Whether it answers at all. */
  answers: true,
  submitted: 0,
  /** The next transactions of buildIncoming. */
  built: [] as string[],
};

const CLOSED: Refused = { outcome: 'refused', reason: 'closed', message: 'the payment was ended' };

const submit = (hash: string, transaction: string, settlementId: string) => {
  const known = submitter.intents.get(hash);
  if (known !== undefined)
    return known.txHash === null || known.settlementId !== settlementId
      ? CLOSED
      : { outcome: 'submitted', tx_hash: known.txHash };
  const refusal = submitter.submits.get(hash);
  if (refusal !== undefined) {
    submitter.intents.set(hash, { settlementId, txHash: null });
    return refusal;
  }
  submitter.submitted += 1;
  submitter.intents.set(hash, { settlementId, txHash: txOf(transaction) });
  return { outcome: 'submitted', tx_hash: txOf(transaction) };
};

const closeIntent = (hash: string, settlementId: string): Progress => {
  const known = submitter.intents.get(hash) ?? { settlementId, txHash: null };
  submitter.intents.set(hash, known);
  return known.txHash === null
    ? {
        object_id: settlementId,
        status: 'failed',
        generation: 0,
        tx_hash: null,
        slot: null,
        failure: { code: 'payment_failed', message: 'the payment was ended before it was signed' },
      }
    : {
        object_id: settlementId,
        status: 'signed',
        generation: 1,
        tx_hash: known.txHash,
        slot: null,
        failure: null,
      };
};

type Input = { transaction: string; settlement_id: string; message_hash: string; signs_last?: true };

/** Serves the operations of chain-submitter for payments of other clients. */
export const serveIncoming = async (bus: Bus): Promise<void> => {
  const serve = (operation: string, answer: (input: Input) => unknown) =>
    bus.nc.subscribe(`int.chain-submitter.${operation}`, {
      callback: (_error, msg) => {
        if (!submitter.answers) return;
        const { input } = msg.json<{ input: Input }>();
        msg.respond(JSON.stringify({ ok: answer(input) }));
      },
    });
  serve('checkIncoming', ({ transaction }) => {
    const hash = hashOf(transaction);
    const accepted = { message_hash: hash, payer: PAYER, source_account: SOURCE, fee_payer: FEE_PAYER };
    return submitter.checks.get(hash) ?? { outcome: 'accepted', ...accepted, lamports: 10_001 };
  });
  serve('submitIncoming', ({ transaction, settlement_id, signs_last }) => ({
    ...submit(hashOf(transaction), transaction, settlement_id),
    ...(signs_last && { transaction: withOtherSlot(transaction) }),
  }));
  serve('buildIncoming', () => ({ transaction: submitter.built.shift() ?? newTransaction() }));
  serve('findLostIncoming', ({ transaction }) => ({ paid: submitter.lost.has(hashOf(transaction)) }));
  serve('closeIncoming', ({ message_hash, settlement_id }) => closeIntent(message_hash, settlement_id));
  await bus.nc.flush();
};

/** A request of x402's verify and settle. */
export const x402Request = (
  transaction: string,
  {
    amount = '50000',
    external,
    ...requirements
  }: { amount?: string; external?: string } & Record<string, unknown> = {},
) => {
  const required = {
    scheme: 'exact',
    network: NETWORK,
    amount,
    asset: MINT,
    payTo: PAYOUT,
    maxTimeoutSeconds: 60,
    extra: { feePayer: FEE_PAYER },
    ...requirements,
  };
  return {
    x402Version: 2,
    paymentPayload: {
      x402Version: 2,
      resource: { url: 'https://api.example.com/report' },
      accepted: required,
      payload: { transaction },
      ...(external !== undefined && { extensions: { 'payment-identifier': { info: { id: external } } } }),
    },
    paymentRequirements: required,
  };
};
