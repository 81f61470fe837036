import { setTimeout as sleep } from 'node:timers/promises';
import { ComputeBudgetProgram } from '@solana/web3.js';
import type { PaymentPayload } from '@x402/core/types';
import { quoteOf } from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { wireTransaction } from '../support/actors/incoming-buyers.ts';
import { waitFor } from '../support/base/wait.ts';
import { createX402Facilitator } from '../support/others/x402.ts';
import { refusalIn } from '../support/rules/refusals.ts';
import { atOnce, tally } from '../support/servers/stack.ts';
import { BALANCE, type Fixture, PRICE, RACERS } from './fixture.ts';
import { outcomes, type Race, unless } from './race.ts';

/*
 * Races of a vendor's replicas, which all want to deliver on one payment.
 */

const UNITS = 40;
/** More ids than units, and fewer than calls: 16 ids are sent twice at once. */
const IDS = 48;
const PAUSE_MS = 50;

type Body = { error?: { code: string; message: string; money_moved?: string } };
type Consumed = Body & { units_consumed: number };

/** A settlement of `UNITS` units, and the calls that its vendor makes. */
const prepaid = async (fixture: Fixture) => {
  const { api, vendor } = fixture;
  const buyer = await fixture.buyerWith();
  const quote = await quoteOf(api, vendor, { scope: { units: UNITS } });
  const { settlement_id, settlement_token } = await must(fixture.settleToTheEnd(buyer, quote), 'settle');
  const unitsLeft = async (): Promise<number> => {
    const [row] = await fixture.rows<{ left: number }>(
      'select (units_total - units_consumed)::int as left from settlement.settlements where settlement_id = $1',
      [settlement_id],
    );
    return row!.left;
  };
  const consume = async (id: number) => {
    for (;;) {
      const answer = await api<Consumed>(`POST /v1/settlements/${settlement_id}/consume`, {
        token: vendor.apiKey,
        body: { settlement_token, units: 1, request_id: `request-${id}` },
      });
      if (answer.status !== 503) return { id, ...answer, left: await unitsLeft() };
      await sleep(PAUSE_MS);
    }
  };
  return { consume, unitsLeft };
};

const consumes: Race = async (fixture) => {
  const { consume, unitsLeft } = await prepaid(fixture);
  const answers = await atOnce(RACERS, (i) => consume(i % IDS));
  /** Every unit has a number, which shows two ids that share one. */
  const unitOf = new Map(
    answers.filter(({ status }) => status === 200).map(({ id, body }) => [id, body.units_consumed]),
  );
  const again = await atOnce(IDS, consume);
  const left = await unitsLeft();
  const isUsedUp = ({ body }: (typeof answers)[0]) => body.error?.code === 'settlement_exhausted';
  return [
    ...unless(
      unitOf.size === UNITS && new Set(unitOf.values()).size === UNITS && left === 0,
      `${unitOf.size} ids took units ${[...unitOf.values()]}, and ${left} of ${UNITS} are left`,
    ),
    ...unless(
      answers.every((answer) => answer.status === 200 || isUsedUp(answer)),
      outcomes(answers),
    ),
    ...[...answers, ...again].flatMap((answer) =>
      unless(
        unitOf.has(answer.id)
          ? answer.status === 200 && answer.body.units_consumed === unitOf.get(answer.id)
          : isUsedUp(answer) && answer.left === 0,
        `request-${answer.id} took unit ${unitOf.get(answer.id) ?? '(none)'}, but got ${answer.status} ` +
          `${answer.body.units_consumed ?? answer.body.error?.code}, with ${answer.left} units left`,
      ),
    ),
  ];
};

type Terms = { network: string; mint: string; fee_payer: string; payout_address: string };

/** A payment that a client of x402 has signed for the offer of a vendor. */
const signedPayment = async ({ api, chain, rows, buyerWith, newVendor }: Fixture) => {
  // A new vendor each time: its credit for fees suffices for a few payments of x402.
  const [{ wallet }, { apiKey }] = await Promise.all([buyerWith(BALANCE, 0n), newVendor()]);
  const path = 'GET /v1/settlements/foreign/terms';
  const terms = await must(api<Terms>(path, { token: apiKey }), 'terms');
  // The terms have the vendor's token account created. Until then a payment is refused, and truly.
  await waitFor(
    () => chain.connection.getAccountInfo(chain.tokenAccount(terms.payout_address)),
    (account) => account !== null,
  );
  const { blockhash } = await chain.connection.getLatestBlockhash();
  const { network, mint, fee_payer: feePayer, payout_address: payTo } = terms;
  const legs = [{ owner: payTo, amount: PRICE.toString() }];
  const before = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 20_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 1 }),
  ];
  const asked = { feePayer, mint, legs, memo: null };
  const transaction = wireTransaction(asked, { payer: wallet, before, blockhash });
  const accepted = {
    ...{ scheme: 'exact', network: network as `${string}:${string}`, asset: mint, payTo },
    ...{ amount: PRICE.toString(), maxTimeoutSeconds: 60, extra: { feePayer } },
  };
  return {
    apiKey,
    transaction,
    payload: { x402Version: 2, accepted, payload: { transaction } } as PaymentPayload,
    /** What the chain and the records have, if it is not one transfer of one settlement. */
    unlessPaidOnce: async (): Promise<string[]> => {
      const left = await chain.balance(wallet.publicKey);
      const received = await chain.balance(payTo);
      const recorded = await rows(
        `select status from settlement.settlements join settlement.incoming_payments using (settlement_id)
         where payout_address = $1 and status = 'redeemed'`,
        [payTo],
      );
      const transfers = (await chain.history(payTo)).length;
      return [
        ...unless(
          left === BALANCE - PRICE && received === PRICE,
          `the buyer has ${left}, the vendor ${received}`,
        ),
        ...unless(recorded.length === 1, `${recorded.length} settlements are redeemed`),
        ...unless(transfers <= 2, `${transfers} transactions of the vendor's account`),
      ];
    },
  };
};

type Accepted = Body & { settlement_id?: string; tx_hash?: string; redeem_id?: string; replayed?: boolean };

const acceptsOfOnePayment: Race = async (fixture) => {
  const { apiKey, transaction, unlessPaidOnce } = await signedPayment(fixture);
  const denials: string[] = [];
  const accept = async (i: number) => {
    for (;;) {
      const answer = await fixture.api<Accepted>('POST /v1/settlements/foreign', {
        token: apiKey,
        body: {
          ...{ rail: 'x402', quote_amount: PRICE.toString(), transaction },
          redeem_id: `replica-${i}`,
        },
      });
      const said = refusalIn(answer.body);
      if (said !== null && said.moneyMoved !== 'unknown')
        denials.push(`${said.code}, money_moved ${said.moneyMoved}`);
      if (answer.status !== 202 && answer.status !== 503) return answer;
      await sleep(PAUSE_MS);
    }
  };
  const answers = await atOnce(RACERS, accept);
  const payments = new Set(
    answers.map(({ body }) => `${body.settlement_id} ${body.tx_hash} ${body.redeem_id}`),
  );
  const firsts = answers.filter(({ body }) => body.replayed === false);
  return [
    ...unless(denials.length === 0, `refused: ${JSON.stringify(tally(denials))}`),
    ...unless(outcomes(answers) === JSON.stringify({ 200: RACERS }), outcomes(answers)),
    ...unless(payments.size === 1, `answers name ${[...payments].join(', ')}`),
    ...unless(firsts.length === 1, `${firsts.length} calls deliver`),
    ...(await unlessPaidOnce()),
  ];
};

type Settled = Body & { success?: boolean; transaction?: string; errorReason?: string };

const settlesOfOnePayment: Race = async (fixture) => {
  const { apiKey, payload, unlessPaidOnce } = await signedPayment(fixture);
  const facilitator = createX402Facilitator(fixture.gatewayUrl, apiKey);
  const denials: string[] = [];
  const settle = async () => {
    for (;;) {
      const { status, text, isJson, body } = await facilitator.settle(payload);
      const { success, transaction, errorReason, error } = body as Settled;
      if (error?.money_moved === 'no') denials.push(`${errorReason ?? status}: ${error.message}`);
      const isOpen = errorReason === 'settlement_pending' || !isJson;
      if (!isOpen) return { outcome: success ? 'success' : (errorReason ?? text), transaction };
      await sleep(PAUSE_MS);
    }
  };
  const answers = await atOnce(RACERS, settle);
  const counted = tally(answers.map(({ outcome }) => outcome));
  const transactions = new Set(answers.map(({ transaction }) => transaction));
  return [
    ...unless(denials.length === 0, `refused: ${JSON.stringify(tally(denials))}`),
    ...unless(counted.success === 1 && counted.duplicate_settlement === RACERS - 1, JSON.stringify(counted)),
    ...unless(transactions.size === 1, `answers name ${[...transactions].join(', ')}`),
    ...(await unlessPaidOnce()),
  ];
};

export const deliveryRaces: Record<string, Race> = {
  [`64 consumes of one settlement of ${UNITS} units`]: consumes,
  '64 accepts of one payment of x402': acceptsOfOnePayment,
  '64 settles of one payment of x402': settlesOfOnePayment,
};
