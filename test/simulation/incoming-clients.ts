import { errorAnswer } from '../../services/gateway/http/errors.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { ofMessage, type Refusal, refusalIn } from '../support/rules/refusals.ts';
import { actors } from './actors.ts';
import { createCaller, Unanswered } from './caller.ts';
import { type Chain, CONFIRMED_SLOTS } from './chain.ts';
import { type Call, calls } from './database.ts';
import type { Harness, Process } from './harness.ts';
import { type Buyer, NETWORK, type Rail, type Signed, signPayment } from './incoming-actors.ts';
import type { IncomingReplica, Service } from './incoming-processes.ts';

/** A purchase: its buyer signs again only after an answer that no money moved. */
type Sale = {
  name: string;
  buyer: Buyer;
  service: Service;
  rail: Rail;
  /** The vendor settles by POST /v1/x402/settle, or by POST /v1/settlements/foreign. */
  by: 'facilitator' | 'paywall';
  amountMicro: bigint;
  /** Its vendor settles once, whatever the answer is. */
  once: boolean;
  messages: Signed[];
};

/** A success that a vendor has heard. */
type Delivery = {
  settlementId: string;
  /** The hand-out or the redeem id. */
  id: string;
  at: number;
  /** Its gateway died, or its confirmation was lost, so that it may be handed out once more. */
  isExcused: boolean;
  /** Its answer came after the time in which nobody else gets the success. */
  isLate: boolean;
};

type Answer = 'final' | 'refused' | 'open';

const CONFIRM_TIMEOUT_MS = 1000;
const CONFIRM_FOR_MS = 60_000;
const CONFIRM_AGAIN_MS = 250;
/** A success whose answer takes longer may be handed out to another call. */
const HANDED_OUT_FOR_MS = 5000;
const MOST_COPIES = 5;
const TRIES = 12;

/**
 * The vendors' programs and their buyers: they present signed transactions once, in copies, late
 * and again, and record every answer.
 */
export const createIncomingClients = (
  harness: Harness,
  {
    seed,
    chain,
    replicas,
    handedOutAt,
    databaseUpSince,
  }: {
    seed: number;
    chain: Chain;
    replicas: () => readonly IncomingReplica[];
    handedOutAt: (handOutId: string) => number;
    databaseUpSince: () => number;
  },
) => {
  const { random } = harness;
  const process: Process = { name: 'buyer', alive: true, pausedUntil: 0, startedAt: 0, skewMs: 0 };
  const sales: Sale[] = [];
  const refusals: Refusal[] = [];
  const deliveries: Delivery[] = [];
  /** When each message was presented, by its hash. */
  const presentedAt = new Map<string, number[]>();
  /** The settlement that the answers about a message named. */
  const named = new Map<string, string>();
  const { call, ...caller } = createCaller(harness, process, replicas);
  let pursuing = 0;

  const nameSettlement = (hash: string, settlementId: string) => {
    const known = named.get(hash);
    if (known !== undefined && known !== settlementId)
      harness.fail('a message has one settlement', `${hash} was answered with two settlements`);
    named.set(hash, settlementId);
  };

  /** The gateway confirms that it has sent a success, and repeats that. */
  const confirm = async (delivery: Delivery): Promise<void> => {
    const { settlementId: settlement_id, id: hand_out_id } = delivery;
    const until = harness.now() + CONFIRM_FOR_MS;
    while (harness.now() < until) {
      const begun = harness.now();
      try {
        await call((replica) => replica.recordHandOut({ settlement_id, hand_out_id }), CONFIRM_TIMEOUT_MS);
        return;
      } catch {
        if (databaseUpSince() <= begun) delivery.isExcused = true;
        await harness.sleep(process, CONFIRM_AGAIN_MS);
      }
    }
  };

  const deliver = (settlementId: string, id: string, { dies = false, isLate = false } = {}): Delivery => {
    const delivery = { settlementId, id, at: harness.now(), isExcused: dies || isLate, isLate };
    deliveries.push(delivery);
    harness.trace('vendor', `delivers for ${settlementId} (${id})`);
    return delivery;
  };

  const hearSuccess = (settlementId: string, handOutId: string): void => {
    const dies = random.chance(harness.faults.lostAnswer);
    const isLate = harness.now() - handedOutAt(handOutId) >= HANDED_OUT_FOR_MS;
    const delivery = deliver(settlementId, handOutId, { dies, isLate });
    if (!dies) void confirm(delivery);
  };

  /** Records a refusal as the gateway words it. */
  const keep = (
    sale: Sale,
    hash: string,
    { askedAt, read, said }: { askedAt: number; read: Call; said: Pick<Refusal, 'code' | 'moneyMoved'> },
  ): void => {
    const refusal = ofMessage(
      { accountId: sale.service.account_id, hash },
      { ...said, askedAt, at: harness.now() },
    );
    refusals.push({ ...refusal, readAt: read.attemptReadAt ?? askedAt });
  };

  const callerOf = ({ service }: Sale) => ({ kind: 'service_key' as const, ...service, key_id: 'key' });

  const settle = async (replica: IncomingReplica, sale: Sale, { transaction }: Signed, memo: string) => {
    const offer = {
      ...{ scheme: 'exact', network: NETWORK, asset: actors.mint, payTo: actors.vendor.payout },
      ...{ amount: String(sale.amountMicro), extra: { feePayer: actors.network.feePayer, memo } },
    };
    return replica.x402Settle(
      {
        x402Version: 2,
        paymentPayload: { x402Version: 2, accepted: offer, payload: { transaction } },
        paymentRequirements: offer,
      } as never,
      callerOf(sale),
    );
  };

  /** One call of a vendor with a signed transaction. */
  const ask = async (sale: Sale, signed: Signed, redeemId: string): Promise<Answer> => {
    const { hash, transaction } = signed;
    const askedAt = harness.now();
    presentedAt.set(hash, [...(presentedAt.get(hash) ?? []), askedAt]);
    const read: Call = { attemptReadAt: null, quoteReadAt: null, isRefused: false };
    const memo = memoOf(sale);
    const trace = (what: string) => harness.trace('vendor', `${sale.name} (${hash}): ${what}`);
    try {
      if (sale.by === 'facilitator') {
        const answer = await call((one) => calls.run(read, () => settle(one, sale, signed, memo)));
        const about = answer.extra?.quittance;
        if (about !== undefined) nameSettlement(hash, about.settlement_id);
        trace(
          answer.success ? 'success' : `${answer.errorReason}, money moved: ${answer.error?.money_moved}`,
        );
        if (answer.success) {
          hearSuccess(about!.settlement_id, about!.hand_out_id!);
          return 'final';
        }
        const { code, money_moved: moneyMoved } = answer.error!;
        keep(sale, hash, { askedAt, read, said: { code, moneyMoved } });
        if (answer.errorReason === 'settlement_pending') return 'open';
        return moneyMoved === 'no' ? 'refused' : 'final';
      }
      const answer = await call((one) =>
        calls.run(read, () =>
          one.acceptForeign(
            {
              ...{ rail: sale.rail, quote_amount: String(sale.amountMicro), memo, transaction },
              redeem_id: redeemId,
            },
            callerOf(sale),
          ),
        ),
      );
      nameSettlement(hash, answer.settlement_id);
      trace(answer.status);
      if (answer.status !== 'confirmed') return 'open';
      const { settlement_id, redeem_id, replayed } = answer;
      const isOwn = !replayed || redeem_id === redeemId;
      if (isOwn && !deliveries.some(({ id }) => id === redeem_id)) deliver(settlement_id, redeem_id);
      return 'final';
    } catch (error) {
      trace(`${(error as Error).name}: ${(error as Error).message}`);
      if (error instanceof Unanswered || !(error instanceof ServiceError)) return 'open';
      const { status, body } = errorAnswer(error, settlement.operations.acceptForeign);
      // The dialect of x402 answers an error of a service with a text that states nothing.
      if (status >= 500 && sale.by === 'facilitator') return 'open';
      const said = refusalIn(body)!;
      keep(sale, hash, { askedAt, read, said });
      if (status >= 500) return 'open';
      return said.moneyMoved === 'no' ? 'refused' : 'final';
    }
  };

  /** The newest answer about each message. */
  const last = new Map<string, Answer>();
  const present = async (sale: Sale, signed: Signed, redeemId: string): Promise<Answer> => {
    const answer = await ask(sale, signed, redeemId);
    last.set(signed.hash, answer);
    return answer;
  };

  const memoOf = ({ name }: Sale): string => `${name} of run ${seed}`;

  const sign = (sale: Sale): Signed => {
    const block = chain.blockAt(chain.indexBehind(CONFIRMED_SLOTS + random.int(0, 12)));
    const { rail, amountMicro } = sale;
    const message = { rail, amountMicro, memo: memoOf(sale), blockhash: block.hash };
    const signed = signPayment(sale.buyer, message);
    if (!sale.messages.some(({ hash }) => hash === signed.hash)) {
      sale.messages.push(signed);
      harness.call(signed.hash, `M${sale.name}.${sale.messages.length}`);
    }
    return signed;
  };

  /** A vendor that did not deliver makes the success available once more, and settles again. */
  const reissue = async (sale: Sale, signed: Signed): Promise<void> => {
    const { service } = sale;
    const settlementId = named.get(signed.hash);
    const last = deliveries.findLast((one) => one.settlementId === settlementId);
    if (last === undefined) return;
    const ids = { settlement_id: last.settlementId, redeem_id: last.id };
    await call((one) => one.reissue(ids, { kind: 'service_key', ...service, key_id: 'key' })).catch(
      (error: Error) => harness.trace('vendor', `${sale.name}: no reissue: ${error.message}`),
    );
    await present(sale, signed, `${sale.name}-again`);
  };

  /** Presents a transaction until there is a final answer. */
  const pursueOne = async (sale: Sale, signed: Signed): Promise<Answer> => {
    let answer: Answer = 'open';
    for (let tries = 0; tries < TRIES && answer === 'open'; tries++) {
      const pauseMs = random.chance(0.3) ? random.between(20, 300) : random.between(200, 6000);
      if (tries > 0) await harness.sleep(process, pauseMs);
      answer = await present(sale, signed, sale.name);
    }
    return answer;
  };

  const pursue = async (sale: Sale): Promise<void> => {
    const signed = sign(sale);
    if (sale.once) return void (await present(sale, signed, sale.name));
    // A buyer or a proxy repeats the request, whose copies reach the vendor at once.
    const copies = random.chance(0.5) ? random.int(1, MOST_COPIES) : 0;
    const sent = Array.from({ length: copies }, async (_, copy) => {
      await harness.sleep(process, random.chance(0.6) ? random.between(0, 40) : random.between(0, 20_000));
      await present(sale, signed, random.chance(0.5) ? sale.name : `${sale.name}-${copy}`);
    });
    if (random.chance(0.1)) await harness.sleep(process, random.between(0, 70_000));
    const answer = await pursueOne(sale, signed);
    if (random.chance(0.3)) {
      await harness.sleep(process, random.between(0, 30_000));
      await present(sale, signed, sale.name);
    }
    if (answer === 'final' && sale.by === 'facilitator' && random.chance(0.3)) await reissue(sale, signed);
    await Promise.all(sent);
    let newest = signed;
    for (let again = 0; again < 2 && last.get(newest.hash) === 'refused' && random.chance(0.6); again++) {
      await harness.sleep(process, random.between(500, 10_000));
      newest = sign(sale);
      await pursueOne(sale, newest);
    }
    // The payload is presented once more, long after its end.
    if (random.chance(0.3)) {
      await harness.sleep(process, random.between(0, 60_000));
      await present(sale, newest, `${sale.name}-late`);
    }
  };

  return {
    sales,
    refusals,
    deliveries,
    presentedAt,
    present,
    isIdle: () => pursuing === 0 && caller.isIdle(),
    begin: (sale: Omit<Sale, 'messages'>, delayMs: number): void => {
      const begun: Sale = { ...sale, messages: [] };
      sales.push(begun);
      pursuing += 1;
      harness.inside(process, delayMs, () => {
        void pursue(begun)
          .catch(harness.fault)
          .finally(() => {
            pursuing -= 1;
          });
      });
    },
    /** Another service presents a transaction that has a settlement already. */
    steal: (sale: Sale, service: Service): void => {
      const [signed] = sale.messages;
      if (signed === undefined || !named.has(signed.hash)) return;
      void present({ ...sale, service }, signed, 'stolen').catch(harness.fault);
    },
  };
};
export type IncomingClients = ReturnType<typeof createIncomingClients>;
