import { setTimeout as sleep } from 'node:timers/promises';
import {
  createConsumer,
  createDelegate,
  createVendor,
  settleWith,
} from '../../../deploy/local/seed/actors.ts';
import { createApi, patientApi } from '../../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../../deploy/local/servers/ports.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Access } from '../access.ts';
import { settlementsOfService } from '../checks/final-records.ts';
import { untilShown } from '../checks/shown-once.ts';
import { until } from '../recovery.ts';
import type { Rng } from '../rng.ts';
import { call } from './attack-call.ts';
import type { AttackCase } from './attack-invariants.ts';
import type { Attack, Form, Mishap, Try, Ware } from './attacks.ts';
import { endAll, untilEnded } from './ends.ts';
import { REPLICAS, type Replicas, startReplicas } from './replicas.ts';

/** Buyers who try to get goods for less than their price, at two replicas of a gate. */

const BALANCE = 1_000_000_000n;
const AGAIN_MS = 1000;
/** A call of a process that has died is served again when its lease has ended, after 30 s. */
const REPEAT_MS = 60_000;
const STALL_MS = 20_000;
const END_MS = 90_000;
/** So long the gates have to end by themselves what no death has left open. */
const OWN_END_MS = 15_000;
const MOST_TRIES = 20;
const TIMES = 10;

type Place = Pick<Access, 'chain' | 'query'> & { stack: Stack };
type Buyer = { address: string; key: string };
/** What an attack is. Null: there is no next one. */
export type Wanted = { ware: Ware; mishap: Mishap; forms: readonly Form[]; rng: Rng };
export type NextAttack = () => Wanted | null;
type Payment = { settlement_id: string; settlement_token: string };
type Known = {
  replicas: Replicas;
  api: ReturnType<typeof createApi>;
  query: Access['query'];
  /** Nothing is repeated any more. */
  isOver: () => boolean;
};

const isLater = ({ status }: Try): boolean => status === null || status >= 500 || status === 429;

/** One attack: opens a tab or pays, makes its calls, repeats them, and ends the tab. */
const createAttacking = ({ replicas, api, query, isOver }: Known, attack: Attack, { key }: Buyer) => {
  const headers: Record<string, string> = {};
  const other = (replica: number): number => 1 - replica;
  /** One request. It is judged with the others, unless it serves to open or to end the tab. */
  const ask = async (form: Form, id: string, replica: number, more: Record<string, string> = {}) => {
    await replicas.ready();
    const path = `${attack.path}?id=${id}${form === 'stalls' ? '&long' : ''}`;
    const one: Try = {
      ...{ form, id, replica, from: Date.now(), to: null, status: null, reason: null },
      ...{ hasBegun: false, isWhole: false, isSwitched: false },
    };
    const port = replicas.portOf(replica);
    const resume = Promise.race([replicas.givenUp(path), sleep(STALL_MS, undefined, { ref: false })]);
    const sent = { ...headers, 'x-payment-request-id': id, ...more };
    const isJudged = headers['x-settlement-id'] !== undefined && !('x-tab-close' in more);
    if (isJudged) attack.tries.push(one);
    const text = await call(one, { host: replicas.host, port, path, headers: sent, resume });
    return { one, text };
  };
  const repeats = async (id: string): Promise<void> => {
    for (let times = 0; times < TIMES; times += REPLICAS.length)
      await Promise.all(REPLICAS.map((replica) => ask('repeats', id, replica)));
  };
  /** @returns what pays, or null if the platform is too busy */
  const open = async (replica: number): Promise<Payment | null> => {
    const attemptId = crypto.randomUUID();
    let quote: { quote_token: string } | null = null;
    for (let tries = 0; tries < MOST_TRIES && !isOver(); tries += 1) {
      if (tries > 0) await sleep(AGAIN_MS);
      if (quote === null) {
        const { one, text } = await ask('plain', 'offer', replica);
        if (one.status === 402) quote = JSON.parse(text) as { quote_token: string };
        if (quote === null) continue;
      }
      const paid = await settleWith(api, key, quote, attemptId).catch(() => null);
      if (paid?.status === 200 && paid.body.settlement_token !== undefined) return paid.body;
    }
    return null;
  };
  /** The same id, at both replicas in turn, until something is decided. */
  const untilDecided = async (id: string, first: number): Promise<void> => {
    const deadline = Date.now() + REPEAT_MS;
    for (let replica = first; Date.now() < deadline && !isOver(); replica = other(replica)) {
      const { form } = attack.tries.find((each) => each.id === id)!;
      const { one } = await ask(form === 'stalls' ? 'stalls' : 'plain', id, replica);
      if (!isLater(one)) return;
      await sleep(AGAIN_MS);
    }
  };
  const close = async (replica: number): Promise<void> => {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { one } = await ask('plain', 'end', tries % 2 === 0 ? replica : other(replica), {
        'x-tab-close': 'true',
      });
      if (!isLater(one)) break;
      await sleep(AGAIN_MS);
    }
    if (attack.mishap.kind.startsWith('dies')) return;
    await until(Date.now() + END_MS, async () => {
      const [row] = await query<{ status: string }>(
        'select status from settlement.settlements where settlement_id = $1',
        [attack.settlementId],
      );
      return row !== undefined && row.status !== 'authorized';
    });
  };

  return async ({ forms, rng }: Wanted): Promise<void> => {
    const replica = rng.pick(REPLICAS);
    const payment = await open(replica);
    if (payment === null) return;
    attack.settlementId = payment.settlement_id;
    headers['x-settlement-id'] = payment.settlement_id;
    headers['x-settlement-token'] = payment.settlement_token;
    replicas.arm(attack, replica);
    for (const [at, form] of forms.entries()) {
      const id = attack.ware === 'goods' ? 'goods' : `call-${at}`;
      if (form === 'repeats') await repeats(id);
      else await ask(form, id, at === 0 ? replica : rng.pick(REPLICAS));
      const own = attack.tries.filter((each) => each.id === id);
      if (own.every(isLater) || rng.chance(0.3)) await untilDecided(id, other(replica));
    }
    replicas.disarm(attack);
    if (attack.ware !== 'goods') await close(other(replica));
  };
};

/** Signs attackers up at two replicas of their own vendor. */
export const startAttackers = async (
  { stack, chain, query }: Place,
  command: readonly string[],
  attackers: number,
) => {
  const plain = createApi(stack.gateway_url);
  const api = patientApi(plain);
  const seller = await createVendor(plain, stack);
  const attacks: Attack[] = [];
  const byPath = new Map<string, Attack>();
  const ports = createPortPicker();
  const attackOf = (path: string) => byPath.get(path);
  const replicas = await startReplicas({ stack, seller, command, attackOf, ports });
  const buyers: Buyer[] = await atOnce(attackers, async () => {
    const consumer = await createConsumer(api, stack, { balance: BALANCE, allowance: BALANCE });
    const limits = { daily: '900000000' };
    const { api_key: key } = await untilShown(() => createDelegate(api, consumer, limits));
    return { key, address: consumer.wallet.publicKey.toBase58() };
  });
  const balances = () =>
    Promise.all(buyers.map(async ({ address }) => [address, await chain.balance(address)] as const));
  const before = new Map(await balances());

  const work = async (buyer: Buyer, next: NextAttack, isOver: () => boolean): Promise<void> => {
    for (let wanted = next(); wanted !== null; wanted = next()) {
      const { ware, mishap } = wanted;
      const path = `/${ware}/${attacks.length + 1}`;
      const attack: Attack = {
        ...{ ware, mishap, path, resource: `${replicas.origin}${path}`, buyer: buyer.address },
        ...{ settlementId: null, from: Date.now(), to: Date.now(), tries: [], runs: 0 },
        ...{ deliveries: new Set<string>(), isMet: false },
      };
      attacks.push(attack);
      byPath.set(path, attack);
      await createAttacking({ replicas, api: plain, query, isOver }, attack, buyer)(wanted);
      attack.to = Date.now();
    }
  };

  return {
    attacks: attacks as readonly Attack[],
    start: (nextOf: (attacker: number) => NextAttack, isOver: () => boolean): Promise<unknown> =>
      Promise.all(buyers.map((buyer, at) => work(buyer, nextOf(at), isOver))),
    /** What a death has left open ends. */
    recover: async (deadline: number): Promise<void> => {
      await untilEnded(query, seller.serviceId, Math.min(deadline, Date.now() + OWN_END_MS));
      // Before the API ends their tabs: what was used and is not reported yet would be lost.
      await replicas.drain();
      await endAll(query, seller.serviceId, deadline);
    },
    readCase: async (): Promise<AttackCase> => {
      const rows = await settlementsOfService({ query }, seller.serviceId);
      const used = await query<{ settlement_id: string; used: string }>(
        `select settlement_id, (sum(amount_pico) / 1000000)::bigint::text as used from settlement.uses
         where settlement_id = any($1) group by settlement_id`,
        [rows.map(({ settlement_id }) => settlement_id)],
      );
      const usedOf = new Map(used.map((each) => [each.settlement_id, BigInt(each.used)]));
      const { deaths, reportedBy, refused } = replicas;
      return {
        ended: attacks.map((attack) => ({
          attack,
          row: rows.find(({ scope }) => scope?.resource === attack.resource),
          used: usedOf.get(attack.settlementId ?? '') ?? 0n,
        })),
        ...{ rows, deaths, reportedBy, refused: refused() },
        moved: (await balances()).map(([who, now]) => ({ who, spent: before.get(who)! - now })),
      };
    },
    stop: (): Promise<void> => replicas.stop(),
  };
};
export type Attackers = Awaited<ReturnType<typeof startAttackers>>;
