import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { MOST_WINDOW_SECONDS } from '../../../sdk/src/pay/base/rules.ts';
import { payingFetch, type Receipt, receiptOf, type Usage, usageOf } from '../../../sdk/src/pay/main.ts';
import { type Context, contextOf } from '../context.ts';
import { FailedError, InterruptedError, NotSignedInError, RefusedError } from '../errors.ts';
import { AGAIN } from '../failure.ts';
import { type Io, styled, withProgress } from '../io.ts';
import { createPaymentFiles } from '../payment-files.ts';
import { requestOf } from '../request.ts';
import { configFolder } from '../sign-ins.ts';
import { countOption } from '../text/numbers.ts';
import { receiptFields } from '../text/receipt-fields.ts';
import { plain } from '../text/text.ts';
import { microOption } from '../text/usdc.ts';
import { type Watching, watchPayments } from '../watching.ts';
import { untilPaid } from './pay-waiting.ts';

const DEFAULT_MAX = '1.00';

type Options = {
  request?: string;
  header?: string[];
  data?: string;
  output?: string;
  include?: true;
  max: string;
  maxWindow: string;
  key?: string;
  wait?: true;
};

/** The credential that pays, and the part of it that names its payments. */
const payerOf = async ({ keys, signIns, environment, url }: Context) => {
  const { delegate, service } = keys;
  if (delegate !== undefined) return { credential: delegate.text, payer: delegate.text };
  const held = await signIns.load();
  if (held === null)
    throw new NotSignedInError(
      service === undefined
        ? `there is no delegate key, and you are not signed in to ${environment} at ${url}`
        : `${service.variable} is a service key, which sells; a payment needs a delegate key`,
      'Set DELEGATE_KEY to a key that begins with dk_, or run `quittance login`.',
    );
  return { credential: { environment, signIn: signIns.credential }, payer: held.account.account_id };
};

const used = (micro: string): string => `Used ${displayUsdc(micro)} (as the vendor says)`;

const receiptLines = (io: Io, receipt: Receipt, usage: Usage | null): string => {
  const { amountMicro, vendorName, settlementId, transaction, confirmed, authorized } = receipt;
  const source = confirmed ? '' : ' (as the vendor says)';
  const done = styled(io, 'green', authorized === true ? 'Authorized' : 'Paid');
  const charged = usage?.chargedMicro ?? null;
  return [
    `${done} ${displayUsdc(amountMicro)} to ${plain(vendorName)}`,
    ...(charged === null ? [] : [used(charged)]),
    ...(usage === null || usage.leastMicro === null || authorized !== true
      ? []
      : [`Nothing is paid unless ${displayUsdc(usage.leastMicro)} or more is used in all`]),
    `Settlement ${settlementId}`,
    ...(transaction === null ? [] : [`Transaction ${plain(transaction)}${source}`]),
    '',
  ].join('\n');
};

const headText = (response: Response): string => {
  const status = `HTTP ${response.status} ${response.statusText}`.trimEnd();
  return `${[status, ...[...response.headers].map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`;
};

/** The answer as one object. A body that is no text is base64. */
const jsonOf = (response: Response, body: Buffer, receipt: Receipt | null): string => {
  const text = body.toString();
  const isText = Buffer.from(text).equals(body);
  return `${JSON.stringify(
    {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      ...(isText ? { body: text } : { body_base64: body.toString('base64') }),
      receipt: receipt === null ? null : receiptFields(receipt),
    },
    null,
    2,
  )}\n`;
};

const show = async (context: Context, response: Response, { output, include }: Options): Promise<void> => {
  const { io, isJson } = context;
  const [receipt, begun] = [receiptOf(response), usageOf(response)];
  // Before the body, which may be cut off: the money has moved.
  if (receipt !== null && !isJson) io.err(receiptLines(io, receipt, begun));
  const body = Buffer.from(await response.arrayBuffer());
  // Of a stream it is known at its end.
  const charged = usageOf(response)?.chargedMicro ?? null;
  if (charged !== null && begun?.chargedMicro === null && !isJson) io.err(`${used(charged)}\n`);
  if (output !== undefined) await writeFile(output, body);
  if (isJson) {
    io.out(jsonOf(response, output === undefined ? body : Buffer.alloc(0), receipt));
    return;
  }
  if (include === true) io.out(headText(response));
  if (output === undefined) io.out(body);
};

const refuseStatus = (response: Response): void => {
  if (response.status === 402)
    throw new RefusedError(
      'the server asks for a payment that this command cannot make; nothing was paid',
      'Use -i to see what it asks for.',
    );
  if (response.status >= 400) throw new FailedError(`the server answered ${response.status}`);
};

/** What holds after Ctrl-C. */
const interrupted = ({ isPaying }: Pick<Watching, 'isPaying'>): InterruptedError =>
  isPaying()
    ? new InterruptedError('interrupted; the payment may have been made', AGAIN, 'unknown')
    : new InterruptedError('interrupted; nothing was paid', null, 'no');

const pay = async (context: Context, address: string, options: Options): Promise<void> => {
  const { io, url, environment } = context;
  const maxAmount = BigInt(microOption(options.max, '--max'));
  const maxWindowSeconds = countOption(options.maxWindow, '--max-window');
  const { url: target, init } = await requestOf(io, address, options);
  const { credential, payer } = await payerOf(context);
  const files = createPaymentFiles(configFolder(io.env), { url, environment, payer }, io.signal);
  const watching = watchPayments(url, context.signIns.fetch(context.fetch));
  const fetching = payingFetch(watching.fetch, {
    baseUrl: url,
    delegateKey: credential,
    maxAmount,
    maxWindowSeconds,
    store: files.store,
  });
  const call = () =>
    withProgress(io, `Calling ${new URL(target).host} …`, () =>
      fetching(target, {
        ...init,
        signal: io.signal,
        ...(options.key === undefined ? {} : { paymentKey: options.key }),
      }),
    );
  try {
    const response = await (options.wait === true ? untilPaid(context, call) : call());
    await show(context, response, options);
    refuseStatus(response);
  } catch (error) {
    if (io.signal.aborted) throw error instanceof InterruptedError ? error : interrupted(watching);
    // Of an error of fetch. The errors of a payment say themselves what became of it.
    if (error instanceof TypeError)
      Object.assign(error, { moneyMoved: watching.isPaying() ? 'unknown' : 'no' });
    throw error;
  } finally {
    await files.close();
  }
};

const collect = (value: string, previous: string[] = []): string[] => [...previous, value];

export const addPay = (program: Command, io: Io): void => {
  program
    .command('pay')
    .argument('<url>', 'the address to call')
    .summary('call an address and pay what it asks for')
    .description(
      'Calls an address like curl. If it answers 402, pays with the delegate key in DELEGATE_KEY or with your ' +
        'sign-in, and calls again. The body goes to standard output, the receipt to standard error. A repeat of a ' +
        'command that has paid and was not delivered presents the same payment.',
    )
    .option('-X, --request <method>', 'the method; default: GET, or POST with -d')
    .option('-H, --header <line>', 'a header, like "Accept: text/plain"; may be repeated', collect)
    .option('-d, --data <text>', 'the body; @file reads a file, @- standard input')
    .option('-o, --output <file>', 'write the body to a file')
    .option('-i, --include', 'print the status and the headers before the body')
    .option('--max <usdc>', 'pay at most this amount', DEFAULT_MAX)
    .option(
      '--max-window <seconds>',
      'let a vendor that is paid for what was used hold the money at most this long',
      String(MOST_WINDOW_SECONDS),
    )
    .option('--wait', 'wait until the owner has approved the payment, and until its outcome is known')
    .option('--key <id>', 'your id of this purchase: all calls with it pay once until it is delivered')
    .action((url: string, _options, command: Command) =>
      pay(contextOf(io, command), url, command.opts<Options>()),
    );
};
