import type { PaymentRequirements } from '@x402/core/types';
import type { Vendor } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { startFacilitator } from '../facilitator/facilitator.ts';
import { createPaymentCalls, type PaymentCalls } from '../facilitator/payment-calls.ts';
import { createPayers, PRICE_MICRO } from '../harness/actors.ts';
import { startPayingStack } from '../harness/paying-stack.ts';
import type { Benchmark, Run } from '../harness/run.ts';
import { type BenchStack, noteDurability } from '../harness/stack.ts';
import { compareSettles, type SettleSides } from './settle-rounds.ts';

const PAYERS = 8;
const CONCURRENCIES = [1, 16, 64];
/** Fees that the vendor has paid ahead, so that no payment exceeds its credit. */
const PAID_AHEAD_MICRO = 1_000_000_000_000n;

/** Slots of the real chain. */
const SLOT_MS = 400;

export const x402: Benchmark = {
  about: 'POST /v1/x402/settle against the x402 reference facilitator, with the payments of its own client',
  run: async (run) => {
    const sides = await createSides(run);
    for (const concurrency of run.options.concurrencies ?? CONCURRENCIES) {
      const title = `x402, ${SLOT_MS} ms slots, concurrency ${concurrency}`;
      const ratio = await compareSettles(run, sides, { title, concurrency });
      run.report.target({
        what: `${title}: throughput, share of the facilitator’s`,
        value: ratio.perSecond.median,
        atLeast: 1,
      });
      // As in the benchmark settle: without a pause, the calls synchronise with the slots.
      const spreadTitle = `${title}, spread over a slot`;
      const spread = await compareSettles(run, sides, {
        title: spreadTitle,
        concurrency,
        restUpToMs: SLOT_MS,
      });
      run.report.target({
        what: `${spreadTitle}: p50, share of the facilitator’s`,
        value: spread.p50.median,
        atMost: 1.05,
      });
    }
  },
};

type Supported = {
  kinds: { x402Version: number; network: `solana:${string}`; extra: { feePayer: string } }[];
};

/** The payments of our vendor, signed by the reference client. */
export const createX402Calls = async ({ api, stack }: BenchStack, vendor: Vendor): Promise<PaymentCalls> => {
  const { rpc_url: rpcUrl, usdc_mint } = stack.environments.test!;
  const token = vendor.apiKey;
  const supported = await must(api<Supported>('GET /v1/x402/supported', { token }), 'supported');
  const kind = supported.kinds.find(({ x402Version }) => x402Version === 2)!;
  const requirements: PaymentRequirements = {
    scheme: 'exact',
    network: kind.network,
    asset: usdc_mint,
    amount: PRICE_MICRO.toString(),
    payTo: vendor.payout.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: kind.extra,
  };
  return createPaymentCalls({ rpcUrl, requirements, path: '/v1/x402/settle', token });
};

/** Without fees paid ahead the vendor's credit would end after a few payments. */
export const payFeesAhead = async ({ db }: BenchStack, vendor: Vendor): Promise<void> => {
  await db.query('insert into settlement.fee_accounts (account_id, paid) values ($1, $2)', [
    vendor.signIn.account.account_id,
    PAID_AHEAD_MICRO.toString(),
  ]);
};

/** Both on one chain, each with its own payers, as in the benchmark settle. */
const createSides = async (run: Run): Promise<SettleSides> => {
  // Its payment creates the token account that both sides pay into. Our fee payer creates none for
  // x402.
  const {
    bench,
    load,
    vendor,
    payers: ours,
  } = await startPayingStack(run, 'stack', { chainSlotMs: SLOT_MS, payerCount: PAYERS });
  await noteDurability(bench, run);
  const theirs = await createPayers(bench, PAYERS);
  await payFeesAhead(bench, vendor);
  const payTo = vendor.payout.publicKey.toBase58();
  const facilitator = await startFacilitator(run, bench, { payTo, amountMicro: PRICE_MICRO });
  const ourCalls = await createX402Calls(bench, vendor);
  return {
    bench,
    load,
    facilitator,
    ourCalls: (count) => ourCalls(ours, count),
    theirCalls: (count) => facilitator.sign(theirs, count),
    countedText: '"success":true',
  };
};
