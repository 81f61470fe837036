import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ServiceError } from '../../../shared/contract/errors.ts';
import { failpoints } from '../../../shared/lib/failpoint.ts';
import { authorize, capture, use, voidIt } from '../../../test/support/fixtures/settlement/authorizations.ts';
import {
  admin,
  publishProgress,
  startFixture,
  startReplica,
  stopFixture,
} from '../../../test/support/fixtures/settlement/settlement.ts';
import { consumer, snapshots } from '../../../test/support/fixtures/settlement/settlement-peers.ts';
import { endDueAuthorizations } from '../authorizations/end-due-authorizations.ts';
import { watchAuthorizations } from '../authorizations/watch-authorizations.ts';

/**
 * Two replicas over one database, whose calls die at every step, with wallets that are emptied and
 * captures that fail. Everything else is as in production, except that the test is the chain.
 */
const TABS = 60;
const CALLS_OF_TAB = 14;
const ALL_LANES = new Set(Array.from({ length: 16 }, (_, lane) => lane));

let replicas: Awaited<ReturnType<typeof startReplica>>[];
beforeAll(async () => {
  await startFixture();
  replicas = [await startReplica(), await startReplica()];
});
afterAll(stopFixture);

const chance = (share: number): boolean => Math.random() < share;
const STEPS = [
  'settlement.afterAccept',
  'settlement.beforeCapture',
  'settlement.afterCapture',
  'settlement.beforeVoid',
] as const;

/** Calls die at these steps now and then, as those of a process that is killed. */
const breakSteps = (): (() => void) => {
  const before = STEPS.map((step) => [step, failpoints[step]] as const);
  for (const [step, whole] of before)
    failpoints[step] = async () => {
      if (chance(0.25)) throw new Error(`the process dies at ${step}`);
      return whole();
    };
  return () => {
    for (const [step, whole] of before) failpoints[step] = whole;
  };
};

type Tab = Awaited<ReturnType<typeof authorize>>;
/** What was answered with 200, by settlement and id. */
const answered = new Map<string, Map<string, bigint>>();
const givenUp = new Set<string>();

/** True: the answer is final. */
const report = async (tab: Tab, usages: { usage_id: string; amount: string }[]): Promise<boolean> => {
  try {
    await use(tab, { usages });
    const own = answered.get(tab.id) ?? new Map<string, bigint>();
    for (const { usage_id, amount } of usages) own.set(usage_id, BigInt(amount));
    answered.set(tab.id, own);
    return true;
  } catch (error) {
    return error instanceof ServiceError && error.code !== 'service_unavailable';
  }
};

const workOn = async (tab: Tab, number: number): Promise<void> => {
  for (let call = 0; call < CALLS_OF_TAB; call += 1) {
    const usages = Array.from({ length: 1 + (call % 4) }, (_, part) => ({
      usage_id: `${number}/${call}/${part}`,
      amount: String(1 + Math.floor(Math.random() * 12_000)),
    }));
    const repeats = chance(0.3) ? 3 : 1;
    await Promise.all(Array.from({ length: repeats }, () => report(tab, usages)));
    if (chance(0.02)) snapshots.set(tab.payer.owner!, { balance: 0n, allowance: 0n, slot: 1000 + call });
    if (chance(0.03)) void capture(tab).catch(() => {});
    if (chance(0.01)) {
      givenUp.add(tab.id);
      await voidIt(tab, { discard_usage: true }).catch(() => {});
    }
  }
};

const openRows = async () =>
  (
    await admin.query<{ settlement_id: string; status: string }>(
      "select settlement_id, status from settlements where is_authorization and chain_status in ('none', 'pending') and status <> 'voided'",
    )
  ).rows;

/** The chain includes a capture, or refuses it. */
const decide = async (settlementId: string): Promise<void> => {
  if (chance(0.1))
    await publishProgress(settlementId, 'failed', { failure: { code: 'insufficient_funds', message: 'no' } });
  else await publishProgress(settlementId, 'confirmed');
};

/** What the jobs of both replicas do in a second. */
const turn = async (): Promise<void> => {
  for (const { deps } of replicas) {
    await watchAuthorizations({ ...deps, ownedLanes: () => ALL_LANES })().catch(() => {});
    await endDueAuthorizations(deps)().catch(() => {});
  }
  const capturing = (await openRows()).filter(({ status }) => status === 'capturing');
  await Promise.all(capturing.map(({ settlement_id }) => decide(settlement_id)));
};

test('rules 19 to 23: used = captured, and nothing is lost or paid twice, with two replicas that die at every step', async () => {
  const repair = breakSteps();
  const tabs: Tab[] = [];
  while (tabs.length < TABS) {
    const threshold = chance(0.3) ? '150000' : null;
    const tab = await authorize(
      { mode: threshold === null ? 'manual' : 'usage', threshold },
      consumer(),
    ).catch(() => null);
    if (tab !== null) tabs.push(tab);
  }
  let working = true;
  const jobs = (async () => {
    while (working) await turn();
  })();
  await Promise.all(tabs.map(workOn));
  working = false;
  await jobs;
  repair();
  await admin.query('update authorizations set due_at = app_now() where due_at is not null');
  for (let turns = 0; turns < 50 && (await openRows()).length > 0; turns += 1) await turn();

  const { rows } = await admin.query<Record<string, string>>(`
    select s.settlement_id as id, status, s.quote_amount::text as amount, ceiling::text as max, (used_pico / 1000000)::text as used,
      (coalesce(sum(u.amount_pico), 0) / 1000000)::bigint::text as uses, p.held::text as held
    from settlements s join authorizations a using (settlement_id) join payers p on p.wallet_id = s.wallet_id
    left join uses u using (settlement_id) group by s.settlement_id, a.settlement_id, p.wallet_id`);
  expect(rows.length).toBeGreaterThanOrEqual(TABS);
  for (const { id, status, amount, max, used, uses, held } of rows) {
    expect([id, uses]).toEqual([id, used]);
    expect(BigInt(used!)).toBeLessThanOrEqual(BigInt(max!));
    expect([id, held]).toEqual([id, '0']);
    expect([id, ['redeemed', 'voided', 'failed'].includes(status!)]).toEqual([id, true]);
    if (status === 'redeemed') expect([id, amount]).toEqual([id, used]);
    if (status === 'voided' && !givenUp.has(id!)) expect(BigInt(used!)).toBeLessThanOrEqual(10_000n);
  }
  for (const [id, uses] of answered) {
    const recorded = await admin.query<{ usage_id: string; amount: string }>(
      'select usage_id, amount_pico / 1000000 as amount from uses where settlement_id = $1',
      [id],
    );
    const found = new Map(recorded.rows.map(({ usage_id, amount }) => [usage_id, BigInt(amount)]));
    for (const [usageId, amount] of uses)
      expect([id, usageId, found.get(usageId)]).toEqual([id, usageId, amount]);
  }
  const statuses = new Set(rows.map(({ status }) => status));
  expect(statuses).toEqual(new Set(['redeemed', 'voided', 'failed']));
}, 300_000);
