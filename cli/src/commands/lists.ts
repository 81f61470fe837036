import { type Command, Option } from 'commander';
import { CAP_NAMES, CAPS } from '../../../sdk/src/generated/limits.ts';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Client, Output } from '../../../sdk/src/main.ts';
import { itemOf, type Payment, STAGE_WORDS, stageOfPayment } from '../../../sdk/src/payment.ts';
import { type Context, contextOf, print, printPage } from '../context.ts';
import { UsageError } from '../errors.ts';
import { type Io, styled } from '../io.ts';
import { paidTo } from '../text/paid-to.ts';
import { amountText, heldText } from '../text/payment.ts';
import { plain, properties, shownTime } from '../text/text.ts';
import { microOption } from '../text/usdc.ts';
import { newest, printList, withLimit } from './printed-list.ts';

/** A new key is shown once, and apart from what may be copied into a log. */
const keyLine = (io: Io, created: { api_key: string } | { secret_already_shown: true }): string =>
  'secret_already_shown' in created
    ? 'Its key was shown already.'
    : `\n${styled(io, 'bold', created.api_key)}\n\nThis key is shown only once. Store it like a password.`;

// ---------- services ----------

const serviceText = (service: Output<'identity.getService'>): string =>
  properties([
    ['Service', service.service_id],
    ['Name', service.name],
    ['Price', displayUsdc(service.price)],
    ['Fee', displayUsdc(service.fee_amount)],
    ['You receive', displayUsdc(service.net_amount)],
    ['Paid to', service.payout_address],
    ['Domain', service.domain && `${service.domain.display_name} (${service.domain.status})`],
    ['Status', service.status],
    ['Created', shownTime(service.created_at)],
  ]);

export const addServices = (program: Command, io: Io): void => {
  const services = program
    .command('services')
    .summary('services that you sell')
    .description('Services that you sell.');
  withLimit(services.command('list'))
    .description('Lists your services, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.signedIn();
      const items = await newest(client.identity.listServices({}), command.opts<{ limit: string }>().limit);
      printList(context, items, {
        empty: 'No service yet. Create one in the console, under Services.',
        headings: ['SERVICE', 'NAME', 'PRICE', 'YOU RECEIVE', 'STATUS'],
        right: [2, 3],
        row: ({ service_id, name, price, net_amount, status }) => [
          service_id,
          name,
          displayUsdc(price),
          displayUsdc(net_amount),
          status,
        ],
      });
    });
  services
    .command('show')
    .argument('<service-id>')
    .description('Shows one service.')
    .action(async (service_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const service = await (await context.signedIn()).identity.getService({ service_id });
      print(context, service, () => serviceText(service));
    });
  services
    .command('create')
    .description('Shows where a service is created: in the console, because its key lasts.')
    .action((_options, command: Command) =>
      printPage(contextOf(io, command), '/services', 'Create the service'),
    );
};

// ---------- delegates ----------

type DelegateOptions = Record<'wallet' | 'approvalAbove' | 'expires', string | undefined> & {
  name: string;
  services?: string[];
  external?: string[];
  origins?: string[];
};

const LIMITS = CAP_NAMES.map((field) => ({
  field,
  option: new Option(`--${field.replaceAll('_', '-')} <usdc>`, CAPS[field].option),
}));

const externalOf = ({ external, origins }: DelegateOptions) => {
  if (external === undefined) {
    if (origins !== undefined) throw new UsageError('--origins needs --external');
    return {};
  }
  return { external: { pay_to: external, origins: origins ?? null } };
};

const walletOf = async (client: Client, given: string | undefined): Promise<string> => {
  if (given !== undefined) return given;
  const { default_wallet_id } = await client.identity.getSettings();
  if (default_wallet_id !== null) return default_wallet_id;
  throw new UsageError('the account has no wallet', 'Create or link one in the console, under Wallet.');
};

type Created = Awaited<ReturnType<Client['identity']['createDelegate']>>;

/** The limits and rights of a new key, so that its owner sees what it may do. */
const rightsOf = ({
  limits,
  external,
  allowed_service_ids,
  approval_above,
  expires_at,
}: Created): [string, string | null][] => [
  ...LIMITS.map(({ field, option }): [string, string | null] => {
    const limit = limits[field];
    return [option.name(), limit === null ? null : displayUsdc(limit)];
  }),
  ['services', allowed_service_ids?.join(' ') ?? null],
  ['external', external === null ? null : [external.pay_to].flat().join(' ')],
  ['origins', external?.origins?.join(' ') ?? null],
  ['approval-above', approval_above === null ? null : displayUsdc(approval_above)],
  ['expires', expires_at === null ? null : shownTime(expires_at)],
];

const createDelegate = async (context: Context, command: Command): Promise<void> => {
  const options = command.opts<DelegateOptions>();
  const limits = Object.fromEntries(
    LIMITS.flatMap(({ field, option }) => {
      const text: string | undefined = command.getOptionValue(option.attributeName());
      return text === undefined ? [] : [[field, microOption(text, option.long!)]];
    }),
  );
  const hasSum = limits.daily !== undefined || limits.monthly !== undefined || limits.total !== undefined;
  if (limits.per_payment === undefined || !hasSum)
    throw new UsageError(
      'a key needs limits: --per-payment, and one of --daily, --monthly and --total',
      'For instance `--per-payment 1.00 --daily 5.00`.',
    );
  const { name, services, approvalAbove, expires } = options;
  const rights = {
    ...(services === undefined ? {} : { allowed_service_ids: services }),
    ...externalOf(options),
    ...(approvalAbove === undefined
      ? {}
      : { approval_above: microOption(approvalAbove, '--approval-above') }),
    ...(expires === undefined ? {} : { expires_at: expires }),
  };
  const client = await context.signedIn();
  const wallet_id = await walletOf(client, options.wallet);
  const created = await client.identity.createDelegate({ name, wallet_id, limits, ...rights });
  print(
    context,
    created,
    () =>
      `${properties([
        ['Delegate', created.delegate_id],
        ['Name', created.name],
        ['Wallet', created.wallet_id],
        ...rightsOf(created),
      ])}\n${keyLine(context.io, created)}`,
  );
};

export const addDelegates = (program: Command, io: Io): void => {
  const delegates = program
    .command('delegates')
    .summary('keys with a budget, for agents')
    .description('Keys with a budget, for agents.');
  withLimit(delegates.command('list'))
    .description('Lists your delegates, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.signedIn();
      const items = await newest(client.identity.listDelegates({}), command.opts<{ limit: string }>().limit);
      printList(context, items, {
        empty: 'No delegate yet. `quittance delegates create` makes one.',
        headings: ['DELEGATE', 'NAME', 'SPENT TODAY', 'LEFT TODAY', 'STATUS'],
        right: [2, 3],
        row: ({ delegate_id, name, usage: { daily }, status }) => [
          delegate_id,
          name,
          displayUsdc(daily.spent),
          daily.remaining === null ? 'no limit' : displayUsdc(daily.remaining),
          status,
        ],
      });
    });
  delegates
    .command('pause')
    .description('Pauses a delegate: its new payments are refused until you resume it.')
    .argument('<id>', 'the delegate')
    .action(async (delegate_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.signedIn();
      const changed = await client.identity.updateDelegate({ delegate_id, paused: true });
      print(context, changed, () => `“${changed.name}” is ${changed.status}.`);
    });
  delegates
    .command('resume')
    .description('Shows where a paused delegate is resumed: in the console.')
    .action((_options, command: Command) =>
      printPage(contextOf(io, command), '/delegates', 'Resume the delegate'),
    );
  const create = delegates
    .command('create')
    .description(
      'Creates a delegate and shows its key, once. Needs a sign-in of the last 5 minutes (`quittance login`), which may ' +
        'give its delegates 25 USDC a day together: each needs --per-payment of at most 10 USDC, and --daily, --monthly ' +
        'or --total. It ends when you end the sign-in in the console. Create others in the console.',
    )
    .requiredOption('--name <text>', 'its name')
    .option('--wallet <id>', 'the wallet that pays; default: that of the account');
  for (const { option } of LIMITS) create.addOption(option);
  create
    .option('--services <id...>', 'pay these services only')
    .option('--external <address...>', 'pay vendors of x402 and MPP elsewhere, at these addresses')
    .option('--origins <origin...>', 'with --external: at these origins only')
    .option('--approval-above <usdc>', 'wait for your approval above this amount')
    .option('--expires <time>', 'when the key ends, like 2027-01-31T00:00:00Z')
    .action((_options, command: Command) => createDelegate(contextOf(io, command), command));
};

// ---------- payments and approvals ----------

/** Of what is bought, as many characters as a line of a terminal has room for. */
const ITEM_SHOWN = 40;
const shortItem = (item: string | null): string =>
  item !== null && item.length > ITEM_SHOWN ? `${item.slice(0, ITEM_SHOWN - 1)}…` : (item ?? '');

const statusText = (payment: Payment): string => STAGE_WORDS[stageOfPayment(payment, Date.now())];

export const addPayments = (program: Command, io: Io): void => {
  const payments = program
    .command('payments')
    .summary('payments of your account or key')
    .description('Payments of your account, or of the delegate key in DELEGATE_KEY.');
  withLimit(payments.command('list'))
    .description('Lists payments, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.payer();
      const items = await newest(client.settlement.list({}), command.opts<{ limit: string }>().limit);
      printList(context, items, {
        empty: 'No payment yet.',
        headings: ['TIME', 'SETTLEMENT', 'PAID TO', 'ITEM', 'AMOUNT', 'HELD', 'STATUS'],
        right: [4, 5],
        row: (payment) => [
          shownTime(payment.created_at),
          payment.settlement_id,
          paidTo(payment),
          shortItem(itemOf(payment)),
          amountText(payment),
          heldText(payment),
          statusText(payment),
        ],
      });
    });
  addClose(payments, io);
};

/** Ends an authorization of the caller. */
const addClose = (payments: Command, io: Io): void => {
  payments
    .command('close')
    .argument('<settlement-id>', 'the authorization')
    .description(
      'Ends an authorization of yours: nothing more can be used of it. What the vendor has reported as used is paid, ' +
        'and the rest is released.',
    )
    .action(async (settlement_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const closed = await (await context.payer()).settlement.close({ settlement_id });
      print(context, closed, () =>
        properties([
          ['Settlement', closed.settlement_id],
          ['Status', closed.status],
          ['Authorized', displayUsdc(closed.max_amount)],
          ['Used', displayUsdc(closed.used)],
        ]),
      );
    });
};

export const addDeclines = (program: Command, io: Io): void => {
  const declines = program
    .command('declines')
    .summary('payments that were refused')
    .description('Payments of your account that were refused, or of the delegate key in DELEGATE_KEY.');
  withLimit(declines.command('list'))
    .description('Lists declines, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.payer();
      const items = await newest(client.settlement.listDeclines({}), command.opts<{ limit: string }>().limit);
      printList(context, items, {
        empty: 'No payment was refused.',
        headings: ['TIME', 'QUOTE', 'PAY TO', 'ITEM', 'AMOUNT', 'REASON', 'LEFT'],
        right: [4, 6],
        row: ({ created_at, quote_id, service_name, item, amount, code, reason, limit }) => [
          shownTime(created_at),
          quote_id,
          service_name,
          shortItem(item),
          displayUsdc(amount),
          reason ?? code,
          limit ? displayUsdc(limit.left) : '',
        ],
      });
    });
};

export const addApprovals = (program: Command, io: Io): void => {
  const approvals = program
    .command('approvals')
    .summary('payments that wait for the owner')
    .description('Payments of delegates that wait for the owner of the account.');
  withLimit(approvals.command('list'))
    .description('Lists approvals, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.payer();
      const items = await newest(
        client.settlement.listApprovals({}),
        command.opts<{ limit: string }>().limit,
      );
      printList(context, items, {
        empty: 'No payment has waited for an approval.',
        headings: ['TIME', 'APPROVAL', 'PAY TO', 'ITEM', 'AMOUNT', 'STATUS'],
        right: [4],
        row: ({ created_at, approval_id, amount, status, resource, ...payment }) => [
          shownTime(created_at),
          approval_id,
          paidTo(payment),
          shortItem(resource),
          displayUsdc(amount),
          status,
        ],
      });
    });
  approvals
    .command('deny')
    .argument('<approval-id>')
    .description('Denies a payment.')
    .action(async (approval_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const denied = await (await context.signedIn()).settlement.denyApproval({ approval_id });
      print(context, denied, () => `Denied: ${displayUsdc(denied.amount)} to ${plain(paidTo(denied))}.`);
    });
  approvals
    .command('approve')
    .argument('<approval-id>')
    .description('Shows where a payment is approved: in the console, with a passkey.')
    .action((approval_id: string, _options, command: Command) => {
      if (!/^apr_[0-9a-z]{26}$/.test(approval_id))
        throw new UsageError(`"${approval_id}" is not the id of an approval`);
      const context = contextOf(io, command);
      printPage(context, `/approvals/${approval_id}`, 'Approve it with your passkey');
    });
};
