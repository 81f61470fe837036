import path from 'node:path';
import type { Keypair } from '@solana/web3.js';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { lostBy } from '../../../deploy/local/seed/api.ts';
import { instanceName } from '../../../deploy/local/stack/programs.ts';
import { interopStack } from '../../support/interop-stack.ts';
import { refusalIn } from '../../support/refusals.ts';
import { atOnce } from '../../support/stack.ts';
import { createX402Buyer, createX402Facilitator } from '../../support/x402.ts';
import type { Harness } from '../harness.ts';
import { type Answer, kindOf, type Log, type Payment } from './log.ts';

export const PRICE = 50_000n;
const BALANCE = 1_000_000_000n;
/** Longer than the gateway repeats a call. */
const TIMEOUT_MS = 90_000;

/** A stock vendor: what it requires, and how it settles a payment once. */
export type Vendor = {
  apiKey: string;
  payTo: string;
  requirements: PaymentRequirements;
  settle: (payment: Payment) => Promise<Answer>;
};
export type Buyer = {
  address: string;
  isPoor: boolean;
  sign: (requirements: PaymentRequirements) => Promise<PaymentPayload>;
};
export type Actors = { vendors: Vendor[]; buyers: Buyer[] };

/** Calls settle at the gateways in turn, and at the other one if a gateway does not listen. */
const createSettle = ({ stack }: Harness, log: Log, apiKey: string) => {
  const gateways = stack.gateway_urls.map((url, at) => ({
    name: instanceName('gateway', at + 1),
    settle: createX402Facilitator(url, apiKey, { timeoutMs: TIMEOUT_MS }).settle,
  }));
  let turn = 0;
  return async (payment: Payment): Promise<Answer> => {
    turn += 1;
    const mine = turn;
    const askedAt = Date.now();
    const ask = async (tried: number): Promise<Answer> => {
      const gateway = gateways[(mine + tried) % gateways.length]!;
      const about = { askedAt, gateway: gateway.name };
      try {
        const { status, isJson, body } = await gateway.settle(payment.payload);
        const kind = kindOf(isJson ? body : null);
        const { errorReason, errorMessage, transaction } = body as Record<string, string | undefined>;
        const reason = isJson
          ? `${errorReason ?? ''} ${errorMessage ?? ''}`.trim()
          : `${status} without JSON`;
        const moneyMoved = refusalIn(body)?.moneyMoved;
        return {
          ...about,
          at: Date.now(),
          status,
          kind,
          reason,
          transaction: transaction || null,
          moneyMoved,
        };
      } catch (error) {
        const reason = lostBy(error);
        if (reason === 'ECONNREFUSED' && tried + 1 < gateways.length) return ask(tried + 1);
        return {
          ...{ ...about, at: Date.now(), status: null, kind: 'unknown', reason },
          ...{ transaction: null, moneyMoved: undefined },
        };
      }
    };
    const answer = await ask(0);
    log.answered(payment, answer);
    return answer;
  };
};

/** Signs all clients up before the faults begin. */
export const createActors = async (
  harness: Harness,
  log: Log,
  counts: { vendors: number; buyers: number; poor: number; poorBalance: bigint },
): Promise<Actors> => {
  const { stack, stateDir } = harness;
  const { chain, newVendor } = interopStack(stack, path.resolve(stateDir));
  const createVendor = async (): Promise<Vendor> => {
    const { facilitator, network, payTo } = await newVendor();
    const apiKey = facilitator.serviceKey;
    const { kinds } = await createX402Facilitator(stack.gateway_url, apiKey).supported();
    return {
      apiKey,
      payTo,
      requirements: {
        scheme: 'exact',
        network: network as PaymentRequirements['network'],
        ...{ asset: chain.mint, amount: PRICE.toString(), payTo, maxTimeoutSeconds: 60 },
        extra: { feePayer: kinds[0]!.extra.feePayer },
      },
      settle: createSettle(harness, log, apiKey),
    };
  };
  const buyerOf = async (keypair: Keypair, isPoor: boolean): Promise<Buyer> => ({
    address: keypair.publicKey.toBase58(),
    isPoor,
    sign: await createX402Buyer(keypair, chain.rpcUrl),
  });
  const createBuyer = async (at: number) => {
    const isPoor = at < counts.poor;
    const { keypair } = await chain.wallet(isPoor ? counts.poorBalance : BALANCE);
    return buyerOf(keypair, isPoor);
  };
  const vendors = await atOnce(counts.vendors, createVendor);
  return { vendors, buyers: await atOnce(counts.buyers, createBuyer) };
};
