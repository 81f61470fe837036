import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { ApiError, type Client, createClient, type Output } from '../../../sdk/src/main.ts';
import { type Context, contextOf, print } from '../context.ts';
import { FailedError, UsageError } from '../errors.ts';
import { type Io, withProgress } from '../io.ts';
import { properties, table } from '../text/text.ts';

/** Causes events by real calls of the account, so that they are what they will be in live. */

/** The price of everything that is paid. It exceeds the least fee, 0.01 USDC. */
const PRICE = '20000';
const DELEGATE_NAME = 'quittance trigger';
/** The shortest window in which a settlement can be redeemed. */
const REDEEM_SECONDS = 30;

type Made = { object_id: string; note?: string };
type Maker = { context: Context; client: Client; serviceId: string | undefined };
type Quote = Output<'quote.create'>;

/** The service that is paid. A sign-in of the command line cannot create one. */
const serviceOf = ({ context, serviceId }: Maker) => {
  const vendor = context.vendor();
  if (serviceId === undefined)
    throw new UsageError(
      'name the service of SERVICE_KEY with --service',
      'Its page in the console has its id.',
    );
  return { service_id: serviceId, vendor };
};

const quoteOf = async (maker: Maker, more: object = {}) => {
  const service = serviceOf(maker);
  const { service_id, vendor } = service;
  const quote: Quote = await vendor.quote.create({ service_id, quote_amount: PRICE, ...more });
  return { service, quote };
};

const settled = async (maker: Maker, more: object = {}) => {
  const { service, quote } = await quoteOf(maker, more);
  const { io } = maker.context;
  const paid = await withProgress(io, 'Waiting for the payment …', () =>
    maker.client.settlement.settle(
      { quote_token: quote.quote_token, payment_attempt_id: randomUUID() },
      { signal: io.signal },
    ),
  );
  return { service, quote, paid };
};

/** Runs `work` with a delegate of its own, and deletes it afterwards. */
const withDelegate = async <T>(
  { client }: Maker,
  { total = PRICE, ...rights }: { approval_above?: string; total?: string },
  work: (delegate: { delegate_id: string; api_key: string }) => Promise<T>,
): Promise<T> => {
  const { default_wallet_id: wallet_id } = await client.identity.getSettings();
  if (wallet_id === null)
    throw new FailedError('the account has no wallet', 'Create or link one in the console, under Wallet.');
  const created = await client.identity.createDelegate({
    name: DELEGATE_NAME,
    wallet_id,
    limits: { per_payment: PRICE, total },
    ...rights,
  });
  const { delegate_id } = created;
  try {
    if (!('api_key' in created)) throw new FailedError('the key of the new delegate was not shown');
    return await work({ delegate_id, api_key: created.api_key });
  } finally {
    await client.identity.deleteDelegate({ delegate_id });
  }
};

/** The refusal of a delegate’s payment, and the delegate’s client. Null: it was not refused. */
const refusalOf = async (maker: Maker, api_key: string) => {
  const { quote } = await quoteOf(maker);
  const buyer = createClient({
    baseUrl: maker.context.url,
    credential: api_key,
    fetch: maker.context.fetch,
  });
  try {
    await buyer.settlement.settle({ quote_token: quote.quote_token, payment_attempt_id: randomUUID() });
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { error, quote, buyer };
  }
};

/** A payment of a delegate that must be approved, and the denial of it. */
const approvalOf = (maker: Maker): Promise<Made> =>
  withDelegate(maker, { approval_above: '1' }, async ({ api_key }) => {
    const refused = await refusalOf(maker, api_key);
    if (refused === null) throw new FailedError('the payment needed no approval');
    const { approvalId: approval_id } = refused.error;
    if (approval_id === null) throw refused.error;
    await maker.client.settlement.denyApproval({ approval_id });
    return { object_id: approval_id };
  });

/** A payment that the limit of a delegate refuses. */
const declined = (maker: Maker): Promise<{ decline_id: string; delegate_id: string }> =>
  withDelegate(maker, { total: '1' }, async ({ delegate_id, api_key }) => {
    const refused = await refusalOf(maker, api_key);
    if (refused === null) throw new FailedError('the payment was not refused');
    const { error, quote, buyer } = refused;
    if (error.code !== 'limit_exceeded') throw error;
    const { data } = await buyer.settlement.listDeclines({ quote_id: quote.quote_id });
    if (data[0] === undefined) throw new FailedError('the refused payment is not listed');
    return { decline_id: data[0].decline_id, delegate_id };
  });

const delegateOf = (maker: Maker): Promise<Made> =>
  withDelegate(maker, {}, async ({ delegate_id }) => {
    await maker.client.identity.updateDelegate({ delegate_id, limits: { daily: '1' } });
    return { object_id: delegate_id };
  });

/**
 * The amount whose payment the local chain refuses (docs/guides/test-environment.md, Scenarios).
 */
const FAILING_PRICE = '1000103';

/** A payment that the chain refuses. A network without scenarios makes it. */
const failedSettlement = async (maker: Maker): Promise<Made> => {
  try {
    await settled(maker, { quote_amount: FAILING_PRICE });
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'payment_failed')) throw error;
    const { data } = await maker.client.settlement.list({ limit: '20' });
    const failed = data.find(
      ({ quote_amount, status }) => quote_amount === FAILING_PRICE && status === 'failed',
    );
    if (failed === undefined) throw error;
    return { object_id: failed.settlement_id };
  }
  throw new FailedError(
    'the payment was made: the chain of this environment has no scenarios',
    'Use the system of npm start.',
  );
};

const tested = async ({ client }: Maker): Promise<Made> => {
  const { data } = await client.webhook.listEndpoints({ limit: '100' });
  const endpoint = data.find(({ enabled }) => enabled);
  if (endpoint === undefined)
    throw new FailedError(
      'the account has no webhook endpoint that is on',
      'Create one in the console, under Webhooks. `quittance listen` needs none.',
    );
  const { object_id } = await client.webhook.testEndpoint({ endpoint_id: endpoint.endpoint_id });
  return { object_id };
};

const expiredSettlement = async (maker: Maker): Promise<Made> => {
  const { paid } = await settled(maker, { redeem_window_seconds: REDEEM_SECONDS });
  const endsAt = Date.parse(paid.status === 'confirmed' ? paid.redeem_expires_at : paid.capture_ends_at);
  const { io } = maker.context;
  await withProgress(io, 'Waiting for the end of its window …', () =>
    sleep(Math.max(0, endsAt - Date.now()), undefined, { signal: io.signal }),
  );
  return { object_id: paid.settlement_id, note: 'The event follows within a minute.' };
};

const paidQuote = async (maker: Maker): Promise<Made> => ({
  object_id: (await settled(maker)).quote.quote_id,
});
const paidSettlement = async (maker: Maker): Promise<Made> => ({
  object_id: (await settled(maker)).paid.settlement_id,
});

/** A quote whose payer authorizes the price, and of which the vendor captures what it wants. */
const TO_CAPTURE = { quote_amount: undefined, capture: 'manual', max_amount: PRICE };

const voided = async (maker: Maker): Promise<Made> => {
  const { paid, service } = await settled(maker, TO_CAPTURE);
  await service.vendor.settlement.void({ settlement_id: paid.settlement_id });
  return { object_id: paid.settlement_id };
};

const captured = async (maker: Maker): Promise<Made> => {
  const { paid, service } = await settled(maker, TO_CAPTURE);
  const { settlement_id } = paid;
  await service.vendor.settlement.capture({ settlement_id, amount: PRICE });
  return { object_id: settlement_id };
};

const extended = async (maker: Maker): Promise<Made> => {
  const { quote, paid, service } = await settled(maker, TO_CAPTURE);
  const more = { quote_amount: undefined, extends: quote.quote_id, max_amount: PRICE };
  const extended = await settled(maker, more);
  await service.vendor.settlement.void({ settlement_id: paid.settlement_id });
  return { object_id: extended.paid.settlement_id };
};

const AUTHORIZES = 'authorizes a payment of your service, and voids it';
const SETTLES = 'pays a quote of your service';
const DELEGATES = 'creates, changes and deletes a delegate';
const DECLINES = 'a delegate tries to pay more than its limit';
const ASKS = 'a delegate asks for an approval, which is denied';

export const MAKERS: Record<string, readonly [how: string, make: (maker: Maker) => Promise<Made>]> = {
  'quote.settling': [SETTLES, paidQuote],
  'quote.settled': [SETTLES, paidQuote],
  'quote.expired': [
    'creates a quote that expires',
    async (maker) => {
      const { quote } = await quoteOf(maker, { expires_in_seconds: 1 });
      return { object_id: quote.quote_id, note: 'The event follows about 5 minutes after the expiry.' };
    },
  ],
  'settlement.authorized': [AUTHORIZES, voided],
  'settlement.voided': [AUTHORIZES, voided],
  'settlement.extended': ['extends the ceiling of an authorization, which is voided', extended],
  'settlement.captured': ['authorizes a payment of your service, and captures it', captured],
  'settlement.issued': [SETTLES, paidSettlement],
  'settlement.finalized': [SETTLES, paidSettlement],
  'settlement.redeemed': [
    'pays a quote and redeems it',
    async (maker) => {
      const { service, paid } = await settled(maker);
      const { settlement_id, settlement_token } = paid;
      await service.vendor.settlement.redeemOnce({
        settlement_id,
        settlement_token,
        redeem_id: randomUUID(),
      });
      return { object_id: settlement_id };
    },
  ],
  'settlement.expired': [`pays a quote and lets its ${REDEEM_SECONDS} s pass`, expiredSettlement],
  'settlement.failed': ['pays 1.000103 USDC, which the local chain refuses', failedSettlement],
  'settlement.declined': [DECLINES, async (maker) => ({ object_id: (await declined(maker)).decline_id })],
  'delegate.created': [DELEGATES, delegateOf],
  'delegate.updated': [DELEGATES, delegateOf],
  'delegate.deleted': [DELEGATES, delegateOf],
  'delegate.exhausted': [DECLINES, async (maker) => ({ object_id: (await declined(maker)).delegate_id })],
  'approval.requested': [ASKS, approvalOf],
  'approval.decided': [ASKS, approvalOf],
  'webhook.test': ['sends a test to your first webhook endpoint', tested],
};

/** Events that no call of this command can cause, with the reason. */
export const WITHOUT: Record<string, string> = {
  'settlement.reversed':
    'needs a fork that removes a payment for good; a quote of 1.000104 USDC plays a fork that includes it again',
  'settlement.at_risk': 'needs a wallet that is emptied while an authorization of it is open',
  'payment_link.paid': 'needs a payment by the page of a payment link, with a wallet or signed in',
  'refund.*': 'needs the signature of the payout address',
  'withdrawal.*': 'needs the signature of your wallet',
  'deposit.*': 'needs a purchase at a provider',
  'key.rotated': 'needs a rotation, which would replace your key',
  'key.revealed': 'needs a link that is mailed to you',
  'key.ended': 'needs a revocation by its owner in the console',
};

const makerOf = (type: string) => {
  if (Object.hasOwn(MAKERS, type)) return MAKERS[type]![1];
  const reason = WITHOUT[type] ?? WITHOUT[type.replace(/\..*$/, '.*')];
  throw new UsageError(
    reason === undefined ? `"${type}" is not an event` : `${type} cannot be triggered: it ${reason}`,
    'See `quittance trigger --list`.',
  );
};

const showList = (context: Context): void => {
  const events = Object.entries(MAKERS).map(([type, [how]]) => ({ type, how }));
  const others = Object.entries(WITHOUT).map(([type, reason]) => ({ type, reason }));
  print(context, { events, not_available: others }, () =>
    [
      table(
        ['EVENT', 'HOW'],
        events.map(({ type, how }) => [type, how]),
      ),
      table(
        ['NOT AVAILABLE', 'WHY'],
        others.map(({ type, reason }) => [type, `it ${reason}`]),
      ),
    ].join('\n\n'),
  );
};

export const addTrigger = (program: Command, io: Io): void => {
  program
    .command('trigger')
    .argument('[event]', 'the type of the event, like settlement.issued')
    .summary('cause an event, in the test environment')
    .description(
      'Causes an event by real calls of your account, in the test environment only. Payments cost 0.02 USDC of test ' +
        'money of your wallet (settlement.failed needs 1.000103) and go to the service of the key in SERVICE_KEY.',
    )
    .option('--service <id>', 'the service that is paid')
    .option('--list', 'show the events that it can cause')
    .action(async (type: string | undefined, _options, command: Command) => {
      const context = contextOf(io, command);
      const { list, service } = command.opts<{ list?: true; service?: string }>();
      if (list === true) return showList(context);
      if (type === undefined) throw new UsageError('name an event', 'See `quittance trigger --list`.');
      const make = makerOf(type);
      if (context.environment !== 'test')
        throw new UsageError('trigger works in the test environment only, because it pays');
      const made = await make({ context, client: await context.signedIn(), serviceId: service });
      print(context, { type, ...made }, () =>
        properties([
          ['Event', type],
          ['Object', made.object_id],
          ['Note', made.note ?? null],
        ]),
      );
    });
};
