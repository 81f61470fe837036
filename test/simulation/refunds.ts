import { decodeMessage } from '../../services/chain-submitter/transactions/message.ts';
import { errorAnswer } from '../../services/gateway/http/errors.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { funding } from '../../shared/contract/funding.ts';
import { signBytes } from '../../shared/lib/chain/ed25519.ts';
import { assemble, disassemble } from '../../shared/lib/chain/wire-transaction.ts';
import { type Refusal, refusalIn } from '../support/rules/refusals.ts';
import { actors } from './actors.ts';
import type { FundingReplica } from './funding.ts';
import type { Harness, Process } from './harness.ts';

const CALL_TIMEOUT_MS = 20_000;
const TRIES = 12;

/** Adds the vendor's signature to a prepared transaction. The fee payer's slot stays empty. */
const sign = (transaction: string): string => {
  const { message } = disassemble(Buffer.from(transaction, 'base64'));
  const { signers } = decodeMessage(message);
  const own = signBytes(message, actors.vendor.key);
  return assemble(
    message,
    signers.map((signer) => (signer === actors.vendor.payout ? own : null)),
  ).toString('base64');
};

/** The vendor's program: it refunds, signs, submits, cancels, and records its refusals. */
export const createVendor = (harness: Harness, replicas: () => readonly FundingReplica[]) => {
  const { random } = harness;
  const process: Process = { name: 'vendor', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const { account_id, service_id } = actors.vendor;
  const caller = { kind: 'service_key' as const, account_id, service_id, key_id: 'key' };
  /** The refusals of submissions. A refund stands for attempt and quote. */
  const refusals: Refusal[] = [];
  let underWay = 0;

  const keep = (refundId: string, askedAt: number, error: ServiceError): void => {
    const { code, moneyMoved } = refusalIn(errorAnswer(error, funding.operations.submitRefund).body)!;
    refusals.push({
      ...{ accountId: account_id, attemptId: refundId, quoteId: refundId, askedAt, at: harness.now() },
      ...{ code, moneyMoved, safeAction: undefined, settlementId: undefined },
    });
  };

  /** Calls once; null: refused, or no answer arrived. */
  const ask = async <T>(
    refundId: string | null,
    run: (replica: FundingReplica) => Promise<T>,
  ): Promise<T | null> => {
    const able = replicas().filter((one) => one.process.alive);
    if (able.length === 0) return null;
    const askedAt = harness.now();
    const timeout = harness.sleep(process, CALL_TIMEOUT_MS).then(() => null);
    try {
      return await Promise.race([run(random.pick(able)), timeout]);
    } catch (error) {
      if (!(error instanceof ServiceError)) {
        harness.trace('vendor', `refund ${refundId ?? '(new)'}: ${(error as Error).message}`);
        return null;
      }
      if (refundId !== null) keep(refundId, askedAt, error);
      harness.trace('vendor', `refund ${refundId ?? '(new)'}: ${error.code} (${error.message})`);
      return null;
    }
  };

  const pursue = async (settlementId: string, netMicro: bigint): Promise<void> => {
    const amount = random.chance(0.4) ? String(netMicro / BigInt(random.int(2, 4))) : undefined;
    const input = { settlement_id: settlementId, ...(amount === undefined ? {} : { amount }) };
    const opened = await ask(null, (replica) => replica.create(input, caller));
    if (opened === null) return;
    const { refund_id } = opened;
    let transaction = sign(opened.transaction);
    if (random.chance(0.15)) await harness.sleep(process, random.between(0, 90_000));
    for (let tries = 0; tries < TRIES; tries += 1) {
      if (random.chance(0.1)) void ask(refund_id, (replica) => replica.cancel({ refund_id }, caller));
      // Submits the prepared transaction while it requests new bytes. One of the two is submitted.
      const older = transaction;
      if (random.chance(0.25))
        void ask(refund_id, (replica) => replica.submit({ refund_id, transaction: older }, caller));
      if (tries > 0 || random.chance(0.2)) {
        const fresh = await ask(refund_id, (replica) => replica.submit({ refund_id }, caller));
        if (fresh !== null && 'transaction' in fresh) transaction = sign(String(fresh.transaction));
      }
      const answer = await ask(refund_id, (replica) => replica.submit({ refund_id, transaction }, caller));
      if (answer !== null && answer.status !== 'pending_signature') return;
      await harness.sleep(process, random.between(200, 8000));
    }
  };

  return {
    refusals,
    isIdle: () => underWay === 0,
    /** Refunds a settlement, in one part or in several concurrently. */
    refund: (settlementId: string, netMicro: bigint): void => {
      const parts = random.chance(0.3) ? random.int(2, 4) : 1;
      for (let part = 0; part < parts; part += 1) {
        underWay += 1;
        harness.inside(process, random.between(0, 10_000), () => {
          void pursue(settlementId, netMicro).finally(() => {
            underWay -= 1;
          });
        });
      }
    },
  };
};
export type Vendor = ReturnType<typeof createVendor>;
