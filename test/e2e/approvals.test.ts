import { beforeAll, expect, test } from '@jest/globals';
import { Keypair } from '@solana/web3.js';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Delegate,
  type Quote,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../deploy/local/seed/actors.ts';
import { type Answer, createApi, must } from '../../deploy/local/seed/api.ts';
import type { Options } from '../support/actors/authenticator.ts';
import { type Approval, approveWith, type OwnersPasskey, registerPasskey } from '../support/actors/owner.ts';
import { waitFor } from '../support/base/wait.ts';
import { atOnce, runningStack } from '../support/servers/stack.ts';

/**
 * Approval in the loop over the public API: an agent asks, its owner decides with a passkey, and
 * the agent repeats the same attempt.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const PRICE = 3_000_000n;

type Owner = Consumer & OwnersPasskey;
type Refusal = { code: string; safe_action?: string; money_moved?: string; approval_id?: string };

const createOwner = async (): Promise<Owner> => {
  const owner = await createConsumer(api, stack);
  return { ...owner, ...(await registerPasskey(api, stack, owner.token)) };
};

let vendor: Vendor;
let ada: Owner;
let eve: Owner;
beforeAll(async () => {
  [vendor, ada, eve] = await Promise.all([
    createVendor(api, stack, { price: PRICE }),
    createOwner(),
    createOwner(),
  ]);
});

const agentOf = (owner: Owner, limits: Parameters<typeof createDelegate>[2] = {}) =>
  createDelegate(api, owner, limits, { approval_above: '1000000' });
const refusalOf = ({ status, body }: Answer<unknown>): Refusal & { status: number } => ({
  status,
  ...(body as { error: Refusal }).error,
});
const required = {
  status: 403,
  code: 'approval_required',
  money_moved: 'no',
  safe_action: 'await_approval',
  approval_id: expect.stringMatching(/^apr_/),
};

/** An agent asks for a payment. */
const ask = async (agent: Delegate, quote?: Quote) => {
  const asked = quote ?? (await quoteOf(api, vendor));
  const attempt = crypto.randomUUID();
  const refusal = refusalOf(await settleWith(api, agent.api_key, asked, attempt));
  expect(refusal).toMatchObject(required);
  const again = () => settleWith(api, agent.api_key, asked, attempt);
  return { approval_id: refusal.approval_id!, attempt, quote: asked, again };
};
const get = (token: string, approval_id: string) =>
  api<Approval>(`GET /v1/approvals/${approval_id}`, { token });
const optionsOf = (owner: Owner, approval_id: string) =>
  api<Options>(`POST /v1/approvals/${approval_id}/options`, { token: owner.token });
const send = (owner: Owner, approval_id: string, response: object) =>
  api<Approval>(`POST /v1/approvals/${approval_id}/approve`, { token: owner.token, body: { response } });
const approve = (owner: Owner, approval_id: string) => approveWith(api, owner, approval_id);
const deny = (owner: Owner, approval_id: string) =>
  api<Approval>(`POST /v1/approvals/${approval_id}/deny`, { token: owner.token });

test('an agent asks, its owner is mailed and approves with a passkey, and the repeat of the attempt pays', async () => {
  const agent = await agentOf(ada, { daily: '10000000' });
  const { approval_id, attempt, quote, again } = await ask(agent);
  const shown = await must(get(agent.api_key, approval_id), 'approval');
  expect(shown).toMatchObject({
    status: 'awaiting_approval',
    amount: `${PRICE}`,
    payees: [{ address: vendor.payout.publicKey.toBase58(), amount: `${PRICE}` }],
    service_name: 'Weather API',
    quote_id: quote.quote_id,
    payment_attempt_id: attempt,
    expires_at: quote.expires_at,
  });
  const mails = async () => {
    const to = encodeURIComponent(ada.signIn.account.email);
    const answer = await fetch(`${stack.mail_url}/messages?to=${to}`);
    return ((await answer.json()) as { text: string }[]).filter(({ text }) => text.includes(approval_id));
  };
  const [mail] = await waitFor(mails, (found) => found.length === 1, 20_000);
  expect(mail!.text).toContain(`${ada.origin}/console/approvals/${approval_id}\n`);
  expect(mail!.text).toContain('3.00 USDC');

  expect(refusalOf(await again())).toMatchObject({ ...required, approval_id });
  expect((await must(approve(ada, approval_id), 'approve')).status).toBe('approved');
  // An approval reserves nothing.
  const own = await must(api<Delegate>('GET /v1/delegates/me', { token: agent.api_key }), 'me');
  expect(own.usage.total).toMatchObject({ held: '0', spent: '0' });
  const paid = await must(again(), 'settle');
  expect(paid.status).toBe('confirmed');
  expect(await must(get(ada.token, approval_id), 'approval')).toMatchObject({
    status: 'approved',
    settlement_id: paid.settlement_id,
  });
  // Used once: the attempt is that payment from now on.
  expect((await must(again(), 'repeat')).settlement_id).toBe(paid.settlement_id);
  const { settlement_id } = paid;
  expect(refusalOf(await deny(ada, approval_id))).toMatchObject({
    status: 409,
    code: 'conflict',
    settlement_id,
  });
  expect((await mails()).length).toBe(1);
});

test('a denied payment is refused for good, also after it was approved', async () => {
  const agent = await agentOf(ada);
  for (const isApproved of [false, true]) {
    const { approval_id, again } = await ask(agent);
    if (isApproved) await must(approve(ada, approval_id), 'approve');
    expect((await must(deny(ada, approval_id), 'deny')).status).toBe('denied');
    expect(refusalOf(await again())).toMatchObject({
      status: 403,
      code: 'approval_denied',
      money_moved: 'no',
      safe_action: 'stop',
      approval_id,
    });
    expect((await optionsOf(ada, approval_id)).status).toBe(409);
  }
});

test('a payment to another vendor waits for its owner too, and is signed after the approval', async () => {
  const rights = { approval_above: '1000000', external: { pay_to: 'any', origins: null } };
  const agent = await createDelegate(api, ada, {}, rights);
  const { environments } = await must(
    api<{ environments: { test: { usdc_mint: string; x402_network: string } } }>('GET /v1/environments'),
    'environments',
  );
  const requirement = {
    scheme: 'exact',
    network: environments.test.x402_network,
    amount: `${PRICE}`,
    asset: environments.test.usdc_mint,
    payTo: eve.wallet.publicKey.toBase58(),
    maxTimeoutSeconds: 60,
    extra: { feePayer: Keypair.generate().publicKey.toBase58() },
  };
  const body = {
    payment_attempt_id: crypto.randomUUID(),
    resource: 'https://vendor.example/report',
    requirement,
  };
  const again = () => api<{ status: string }>('POST /v1/payments', { token: agent.api_key, body });
  const { approval_id, ...refusal } = refusalOf(await again());
  expect({ ...refusal, approval_id }).toMatchObject(required);
  expect(await must(get(ada.token, approval_id!), 'approval')).toMatchObject({
    status: 'awaiting_approval',
    payees: [{ address: requirement.payTo, amount: `${PRICE}` }],
    service_name: 'vendor.example',
  });
  await must(approve(ada, approval_id!), 'approve');
  const signed = await must(again(), 'pay');
  expect(signed.status).toBe('pending');
  // Its vendor may use it now, so the amount is held.
  const own = await must(api<Delegate>('GET /v1/delegates/me', { token: agent.api_key }), 'me');
  expect(own.usage.total).toMatchObject({ held: `${PRICE}`, spent: '0' });
});

test('another quote with the attempt of an approval is a conflict, and pays nothing', async () => {
  const agent = await agentOf(ada);
  const { approval_id, attempt } = await ask(agent);
  await must(approve(ada, approval_id), 'approve');
  for (const quote_amount of [`${PRICE}`, '90000000']) {
    const other = await quoteOf(api, vendor, { quote_amount });
    expect(refusalOf(await settleWith(api, agent.api_key, other, attempt))).toMatchObject({
      status: 409,
      code: 'conflict',
      money_moved: 'no',
    });
  }
  expect((await must(get(ada.token, approval_id), 'approval')).settlement_id).toBeNull();
});

test('a limit that is lowered between approval and payment applies', async () => {
  const agent = await agentOf(ada, { daily: '10000000' });
  const { approval_id, again } = await ask(agent);
  await must(approve(ada, approval_id), 'approve');
  const limits = { daily: '2000000' };
  const path = `PATCH /v1/delegates/${agent.delegate_id}` as const;
  await must(api(path, { token: ada.token, body: { limits } }), 'lower the limit');
  expect(refusalOf(await again())).toMatchObject({ status: 403, code: 'limit_exceeded' });
  await must(api(path, { token: ada.token, body: { limits: { daily: null } } }), 'raise the limit');
  expect((await again()).status).toBe(200);
});

test('only a passkey of the owner, in its own session, for this payment and once', async () => {
  const agent = await agentOf(ada);
  const [first, second] = [await ask(agent), await ask(agent)];
  const [one, two] = [first.approval_id, second.approval_id];
  const options = await must(optionsOf(ada, one), 'options');
  // The passkey of another account, and another account with its own.
  const foreign = eve.passkey.get(options, { origin: eve.origin });
  expect(refusalOf(await send(ada, one, foreign))).toMatchObject({ status: 400, code: 'validation_error' });
  expect((await optionsOf(eve, one)).status).toBe(404);
  expect((await send(eve, one, foreign)).status).toBe(404);
  expect((await deny(eve, one)).status).toBe(404);
  expect((await get(eve.token, one)).status).toBe(404);
  // An answer for one payment approves no other one.
  const response = ada.passkey.get(await must(optionsOf(ada, one), 'options'), { origin: ada.origin });
  await must(optionsOf(ada, two), 'options of the other');
  expect(refusalOf(await send(ada, two, response)).code).toBe('validation_error');
  // Once: a replayed answer is refused, also after a denial.
  const answer = ada.passkey.get(await must(optionsOf(ada, one), 'options'), { origin: ada.origin });
  const statuses = (await atOnce(4, () => send(ada, one, answer)))
    .map(({ status }) => status)
    .toSorted((a, b) => a - b);
  expect(statuses).toEqual([200, 400, 400, 400]);
  await must(deny(ada, one), 'deny');
  expect((await send(ada, one, answer)).status).toBe(400);
  expect(refusalOf(await first.again()).code).toBe('approval_denied');
  expect(refusalOf(await second.again()).code).toBe('approval_required');
  // A key approves and denies nothing.
  const asKey = { ...ada, token: agent.api_key };
  expect((await optionsOf(asKey, two)).status).toBe(403);
  expect((await deny(asKey, two)).status).toBe(403);
});

test('another delegate’s key sees and uses nothing', async () => {
  const [agent, other] = [await agentOf(ada), await agentOf(ada)];
  const { approval_id, attempt, quote } = await ask(agent);
  await must(approve(ada, approval_id), 'approve');
  expect((await get(other.api_key, approval_id)).status).toBe(404);
  const list = (token: string) => must(api<{ data: Approval[] }>('GET /v1/approvals', { token }), 'list');
  expect((await list(other.api_key)).data).toEqual([]);
  expect((await list(agent.api_key)).data.map((each) => each.approval_id)).toEqual([approval_id]);
  expect(refusalOf(await settleWith(api, other.api_key, quote, attempt))).toMatchObject({
    status: 409,
    code: 'conflict',
  });
});

/** Long enough to ask twice and to approve once on a busy machine. */
const SHORT_SECONDS = 12;

test('an approval lapses with its quote, given or not', async () => {
  const agent = await agentOf(ada);
  const short = { expires_in_seconds: SHORT_SECONDS };
  const [open, given] = [
    await ask(agent, await quoteOf(api, vendor, short)),
    await ask(agent, await quoteOf(api, vendor, short)),
  ];
  await must(approve(ada, given.approval_id), 'approve');
  await waitFor(
    () => must(get(ada.token, given.approval_id), 'approval'),
    ({ status }) => status === 'expired',
    (SHORT_SECONDS + 20) * 1000,
  );
  for (const { approval_id, again } of [open, given]) {
    await waitFor(
      async () => refusalOf(await again()),
      ({ code }) => code === 'approval_expired',
      20_000,
    );
    expect(refusalOf(await again())).toMatchObject({
      status: 410,
      code: 'approval_expired',
      money_moved: 'no',
      safe_action: 'new_quote',
      approval_id,
    });
    expect((await optionsOf(ada, approval_id)).status).toBe(409);
  }
});
