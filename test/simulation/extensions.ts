import { referenceOf } from '../../services/chain-submitter/ledger/reference.ts';
import { storedClaims } from '../../shared/lib/tokens/compact-token.ts';
import { actors } from './actors.ts';
import type { Chain } from './chain.ts';
import { type Attempt, type Clients, createExtension, OTHER_DELEGATE } from './clients.ts';
import { type Harness, require } from './harness.ts';
import type { Random } from './random.ts';
import { acceptancesOf, type Settlement } from './settlement-rows.ts';
import type { SettlementTables } from './settlement-tables.ts';
import { requestOf } from './submitter-rows.ts';
import type { SubmitterTables } from './submitter-tables.ts';

/** Numbers of quotes that extend a ceiling. */
const EXTENSIONS = 3000;
type Tables = { settlement: SettlementTables; submitter: SubmitterTables; clients: Clients };

/**
 * Buyers that extend the ceiling of an authorization that they have: at once, during its use, after
 * its window, and while its vendor ends it. Several programs pay the same quote, by one attempt or
 * by others, and some by a credential that did not authorize.
 */
export const createExtending = (
  harness: Harness,
  { random, clients }: { random: Random; clients: () => Clients },
) => {
  const opened = new Map<string, Attempt>();
  let count = 0;
  let waiting = 0;

  const extend = ({ quote, delegateId }: Attempt): void => {
    const number = EXTENSIONS + count;
    count += 1;
    const addedMicro = BigInt(random.int(1, 4)) * 500_000n;
    const livesMs = random.between(3000, 60_000);
    const extension = createExtension(harness, { number, extended: quote, addedMicro, livesMs });
    const rivals = random.chance(0.4) ? random.int(2, 4) : 1;
    for (let rival = 0; rival < rivals; rival += 1) {
      const isOther = random.chance(0.1);
      const by = isOther ? actors.delegateId(OTHER_DELEGATE + quote.payer) : delegateId;
      clients().begin(`e${number}.${rival}`, extension, {
        delayMs: random.between(0, random.chance(0.7) ? 15 : 5000),
        by: { delegateId: by, causedByItself: [] },
      });
    }
  };
  const extendIn = (delayMs: number, attempt: Attempt): void => {
    waiting += 1;
    harness.schedule(delayMs, () => {
      waiting -= 1;
      extend(attempt);
    });
  };

  return {
    isIdle: () => waiting === 0,
    open: ({ settlement_id }: { settlement_id: string }, attempt: Attempt): void => {
      if (opened.has(settlement_id)) return;
      opened.set(settlement_id, attempt);
      const extensions = random.int(0, 4);
      for (let index = 0; index < extensions; index += 1)
        extendIn(random.between(0, random.pick([500, 500, 5000, 30_000, 110_000])), attempt);
    },
    /** Its vendor captures or voids it, or leaves that to its window. */
    onEnding: (settlementId: string): void => {
      const attempt = opened.get(settlementId);
      if (attempt !== undefined && random.chance(0.5)) extendIn(random.between(0, 20), attempt);
    },
  };
};

/** The sum of the quotes that were accepted for an authorization. */
const signedMicro = (row: Settlement): bigint =>
  acceptancesOf(row).reduce((sum, { micro }) => sum + micro, 0n);

/** After every event: a ceiling is what was accepted for it, and an extension is nothing itself. */
export const checkExtensions = ({
  settlement: { settlements },
  submitter,
  chain,
  clients,
}: Tables & { chain: Chain }): void => {
  const ceilings = new Map<string, bigint>();
  const quotes = new Set<string>();
  const extensions = new Set<string>();
  for (const row of settlements.values()) {
    const { settlement_id: id, quote_id, quote_amount, status, ceiling: max } = row;
    for (const extension of row.extensions ?? []) {
      const { extension_id, quote_id: own, quote_token } = extension;
      require(!quotes.has(own), 'an extension counts once', () => `${own} counts twice`);
      quotes.add(own);
      extensions.add(extension_id);
      require(quote_id === storedClaims(quote_token).extends, 'an extension is of what its quote names', () =>
        `${extension_id} extends ${id}`);
    }
    if (max === null) continue;
    const signed = signedMicro(row);
    require(max === signed, 'a ceiling is the sum of its quotes', () => `${id}: ${max} of ${signed}`);
    require(row.used! <= signed, 'never more used than was signed', () => `${id}: ${row.used!} of ${signed}`);
    if (status === 'authorized')
      require(quote_amount === max && row.holding, 'an open authorization holds its ceiling', () =>
        `${id}: ${quote_amount} of ${max}`);
    ceilings.set(referenceOf('test', quote_id), signed);
  }
  if (ceilings.size === 0) return;
  for (const { object_id } of submitter.intents.values())
    require(!extensions.has(object_id), 'an extension holds and pays nothing', () => `${object_id} is paid`);
  for (const { payment, error } of chain.all()) {
    const signed = ceilings.get(payment.reference ?? '');
    if (error !== null || signed === undefined) continue;
    const gross = payment.transfers.reduce((sum, { amount }) => sum + amount, 0n);
    require(gross <= signed, 'never more paid than was signed', () => `${gross} of ${signed}`);
  }
  for (const { attemptId, paid, quote } of clients.attempts)
    if (paid !== null && quote.extended !== null) checkAnswered(settlements, { attemptId, paid, quote });
};

/** A 200 of an extension is part of the ceiling. */
const checkAnswered = (
  settlements: Map<string, Settlement>,
  { attemptId, paid, quote }: Pick<Attempt, 'attemptId' | 'quote'> & { paid: NonNullable<Attempt['paid']> },
): void => {
  const extended = settlements.get(paid.settlement_id)!;
  const own = extended.extensions!.filter(({ quote_id }) => quote_id === quote.quoteId);
  require(own.length === 1, 'an extension that was answered counts', () => `${attemptId}: ${own.length}`);
  const [most, least] = [extended.ceiling!, quote.grossMicro + quote.extended!.grossMicro];
  const said = paid.max_amount === undefined ? null : BigInt(paid.max_amount);
  require(said === null || (least <= said && said <= most), 'an answer names the extended ceiling', () =>
    `${attemptId}: ${said}`);
};

/** At the end: each job of a capture names the quotes that allow its amount. */
export const checkExtended = ({ settlement: { settlements }, submitter }: Tables): void => {
  for (const intent of submitter.intents.values()) {
    const { object_id } = intent;
    if (!settlements.has(object_id)) continue;
    const job = requestOf(intent) as {
      quote_token?: string;
      capture_amount?: string;
      extension_tokens?: string[];
    };
    if (job.capture_amount === undefined) continue;
    const named = new Map<string, bigint>();
    for (const token of [job.quote_token!, ...(job.extension_tokens ?? [])]) {
      const { quote_id, quote_amount } = storedClaims(token);
      named.set(quote_id, BigInt(quote_amount));
    }
    const signed = [...named.values()].reduce((sum, amount) => sum + amount, 0n);
    require(BigInt(job.capture_amount) <= signed, 'a job names what allows its amount', () =>
      `${object_id}: ${job.capture_amount} of ${signed}`);
  }
};
