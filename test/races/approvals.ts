import { setTimeout as sleep } from 'node:timers/promises';
import type { Quote } from '../../deploy/local/seed/actors.ts';
import { type Answer, must } from '../../deploy/local/seed/api.ts';
import { type Approval, approveWith, type OwnersPasskey, registerPasskey } from '../support/actors/owner.ts';
import { atOnce } from '../support/servers/stack.ts';
import { BALANCE, type Fixture, PRICE, RACERS } from './fixture.ts';
import { outcome, outcomes, type Race, unless } from './race.ts';

/** Of each approval two calls pay and two deny, 64 calls in all. */
const APPROVALS = RACERS / 4;
/** Of a delegate at most ten may wait. */
const OF_A_DELEGATE = 8;
/** The denials begin during the payments, whose commits take 200 ms. */
const SPREAD_MS = 300;

type Buyer = Awaited<ReturnType<Fixture['buyerWith']>>;
type Refused = { error?: { approval_id?: string; settlement_id?: string } };

/** A delegate that needs an approval for the price. */
const agentOf = (fixture: Fixture, owner: Buyer) =>
  fixture.delegateOf(owner, {}, { approval_above: (PRICE - 1n).toString() });

const approvalIn = ({ body }: Answer<unknown>): string => (body as Refused).error?.approval_id ?? '';

/** The owner approves. Its session has one open challenge at a time. */
const approve = async (fixture: Fixture, owner: Buyer & OwnersPasskey, approvalId: string) =>
  must(approveWith(fixture.api, owner, approvalId), 'approve');

const ownerWith = async (fixture: Fixture) => {
  const buyer = await fixture.buyerWith();
  const { api, gatewayUrl } = fixture;
  return { ...buyer, ...(await registerPasskey(api, { gateway_url: gatewayUrl }, buyer.token)) };
};

/** What left the wallet, as a number of payments. */
const paymentsOf = async ({ chain }: Fixture, owner: Buyer): Promise<bigint> =>
  (BALANCE - (await chain.balance(owner.wallet.publicKey))) / PRICE;

const denialAgainstPayment: Race = async (fixture) => {
  const { api } = fixture;
  const owner = await ownerWith(fixture);
  const agents = await atOnce(APPROVALS / OF_A_DELEGATE, () => agentOf(fixture, owner));
  const quotes = await fixture.quotes(APPROVALS);
  const asked = await atOnce(APPROVALS, async (i) => {
    const [agent, quote, attempt] = [agents[i % agents.length]!, quotes[i]!, crypto.randomUUID()];
    const pay = () => fixture.settleToTheEnd(agent, quote, attempt);
    return { pay, approvalId: approvalIn(await pay()) };
  });
  for (const { approvalId } of asked) await approve(fixture, owner, approvalId);

  const deny = async (approvalId: string) => {
    await sleep(Math.random() * SPREAD_MS);
    return api<Partial<Approval> & Refused>(`POST /v1/approvals/${approvalId}/deny`, { token: owner.token });
  };
  const decided = await fixture.whileCommitsWait(owner, () =>
    atOnce(APPROVALS, async (i) => {
      const { pay, approvalId } = asked[i]!;
      const [paid, denied] = await Promise.all([atOnce(2, pay), atOnce(2, () => deny(approvalId))]);
      return { paid, denied };
    }),
  );
  const paidFor = decided.filter(({ paid }) => paid.every(({ status }) => status === 200));
  const left = await paymentsOf(fixture, owner);
  return [
    ...decided.flatMap(({ paid, denied }, i) => {
      const settlements = new Set(paid.map(({ body }) => body.settlement_id));
      const isPaid = paid.every(({ status }) => status === 200) && settlements.size === 1;
      const isDenied = paid.every((one) => outcome(one) === 'approval_denied');
      const refused = denied.every(({ status, body }) =>
        isPaid ? status === 409 && settlements.has(body.error?.settlement_id ?? '') : status === 200,
      );
      const answers = `paid ${outcomes(paid)}, denied ${denied.map(({ status }) => status).join(' ')}`;
      return unless((isPaid || isDenied) && refused, `${asked[i]!.approvalId}: ${answers}`);
    }),
    ...unless(
      left === BigInt(paidFor.length),
      `${left} payments left the wallet, ${paidFor.length} answered`,
    ),
  ];
};

/** Attempts of one quote by one delegate: the owner has approved one of them. */
const otherAttempts: Race = async (fixture) => {
  const owner = await ownerWith(fixture);
  const agent = await agentOf(fixture, owner);
  const [quote] = (await fixture.quotes(1)) as [Quote];
  const approved = crypto.randomUUID();
  const approvalId = approvalIn(await fixture.settleToTheEnd(agent, quote, approved));
  await approve(fixture, owner, approvalId);
  const others = await atOnce(RACERS - 1, () => fixture.settleToTheEnd(agent, quote));
  const unpaid = await paymentsOf(fixture, owner);
  const paid = await fixture.settleToTheEnd(agent, quote, approved);
  const left = await paymentsOf(fixture, owner);
  return [
    ...unless(
      others.every((one) => ['approval_required', 'limit_exceeded'].includes(`${outcome(one)}`)),
      outcomes(others),
    ),
    ...unless(unpaid === 0n, `${unpaid} payments without an approval`),
    ...unless(paid.status === 200 && left === 1n, `${outcome(paid)}, ${left} payments`),
  ];
};

/** Races for the approval of an owner. */
export const approvalRaces: Record<string, Race> = {
  '32 denials against 32 payments of 16 approved attempts': denialAgainstPayment,
  'one approval, 64 attempts of its quote': otherAttempts,
};
