import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { contextOf, print } from '../context.ts';
import { UsageError } from '../errors.ts';
import { type Io, withProgress } from '../io.ts';
import { countOption } from '../text/numbers.ts';
import { plain, properties, shownTime } from '../text/text.ts';
import { microOption } from '../text/usdc.ts';

/**
 * The three calls of a payment: a vendor's quote, the payer's settlement, the vendor's redemption.
 */

const scopeOf = (text: string): Record<string, never> => {
  try {
    const value = JSON.parse(text) as unknown;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as never;
  } catch {
    // The error below names the option.
  }
  throw new UsageError('--scope: not a JSON object, like \'{"resource":"https://api.example.com/report"}\'');
};

/** A token as an argument, or `-` for standard input. */
const tokenFrom = async (io: Io, text: string): Promise<string> =>
  text === '-' ? (await io.readInput()).toString().trim() : text;

/** @throws UsageError if the token has no settlement id */
const settlementIdIn = (token: string): string => {
  try {
    const claims = JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()) as unknown;
    const { settlement_id } = claims as { settlement_id?: unknown };
    if (typeof settlement_id === 'string') return settlement_id;
  } catch {
    // The error below says what is expected.
  }
  throw new UsageError(
    'this is no settlement token',
    'Pass the settlement_token that `quittance settle` prints.',
  );
};

const addQuote = (program: Command, io: Io): void => {
  program
    .command('quote')
    .argument('<service-id>', 'the service that is to be paid')
    .summary('create a quote for a service')
    .description(
      'Creates a quote: a signed price that can be paid once. Needs the service’s key in SERVICE_KEY.',
    )
    .option('--amount <usdc>', 'the price; default: that of the service')
    .option('--expires-in <seconds>', 'how long it can be paid (default: 600)')
    .option('--redeem-window <seconds>', 'how long its settlement can be redeemed')
    .option('--scope <json>', 'JSON object that the quote signs, for instance the resource')
    .action(async (service_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const { amount, expiresIn, redeemWindow, scope } = command.opts<Record<string, string | undefined>>();
      const quote = await context.vendor().quote.create({
        service_id,
        ...(amount === undefined ? {} : { quote_amount: microOption(amount, '--amount') }),
        ...(expiresIn === undefined ? {} : { expires_in_seconds: countOption(expiresIn, '--expires-in') }),
        ...(redeemWindow === undefined
          ? {}
          : { redeem_window_seconds: countOption(redeemWindow, '--redeem-window') }),
        ...(scope === undefined ? {} : { scope: scopeOf(scope) }),
      });
      print(context, quote, () =>
        properties([
          ['Quote', quote.quote_id],
          ['Amount', displayUsdc(quote.quote_amount)],
          ['Fee', displayUsdc(quote.fee_amount)],
          ['Expires', shownTime(quote.expires_at)],
          ['Token', quote.quote_token],
        ]),
      );
    });
};

const addSettle = (program: Command, io: Io): void => {
  program
    .command('settle')
    .argument('<quote-token>', 'the quote, or - for standard input')
    .summary('pay a quote')
    .description(
      'Pays a quote with the delegate key in DELEGATE_KEY or with your sign-in, and prints the settlement token. ' +
        'After an unknown outcome repeat it with the same --attempt: it never pays twice.',
    )
    .option('--attempt <id>', 'your id of this payment; default: a new one, which is printed first')
    .action(async (argument: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const { attempt = randomUUID() } = command.opts<{ attempt?: string }>();
      const client = await context.payer();
      const quote_token = await tokenFrom(io, argument);
      // Printed before the payment, so that a crash in between does not lose it.
      io.err(`Attempt ${plain(attempt)}\n`);
      const paid = await withProgress(io, 'Waiting for the payment …', () =>
        client.settlement.settle({ quote_token, payment_attempt_id: attempt }, { signal: io.signal }),
      );
      print(context, paid, () =>
        properties([
          ['Settlement', paid.settlement_id],
          ...(paid.status === 'confirmed'
            ? ([
                ['Transaction', paid.tx_hash],
                ['Redeem until', shownTime(paid.redeem_expires_at)],
              ] as const)
            : ([
                ['Authorized', displayUsdc(paid.max_amount)],
                ...(paid.extension_id === undefined
                  ? []
                  : ([['Extended by extension', paid.extension_id]] as const)),
                ['Captured until', shownTime(paid.capture_ends_at)],
              ] as const)),
          ['Token', paid.settlement_token],
        ]),
      );
    });
};

const addRedeem = (program: Command, io: Io): void => {
  program
    .command('redeem')
    .argument('<settlement-token>', 'the settlement, or - for standard input')
    .summary('redeem a settlement, as the vendor')
    .description(
      'Redeems a settlement once. Deliver only if it succeeds. It fails for a settlement that was redeemed before, ' +
        'unless with the same --redeem-id. Needs the service’s key in SERVICE_KEY.',
    )
    .option('--redeem-id <id>', 'your id of this redemption, with which a repeat gets the same answer')
    .action(async (argument: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const { redeemId = randomUUID() } = command.opts<{ redeemId?: string }>();
      const client = context.vendor();
      const settlement_token = await tokenFrom(io, argument);
      const settlement_id = settlementIdIn(settlement_token);
      const redeemed = await client.settlement.redeemOnce({
        settlement_id,
        settlement_token,
        redeem_id: redeemId,
      });
      print(context, redeemed, () =>
        properties([
          ['Settlement', redeemed.settlement_id],
          ['Status', redeemed.status],
          ['Deliver', 'yes'],
          ['Redeem id', redeemId],
        ]),
      );
    });
};

export const addQuoteSettleRedeem = (program: Command, io: Io): void => {
  addQuote(program, io);
  addSettle(program, io);
  addRedeem(program, io);
};
