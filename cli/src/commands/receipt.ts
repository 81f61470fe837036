import type { Command } from 'commander';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { type ReceiptClaims, verifyReceipt } from '../../../sdk/src/main.ts';
import { contextOf, print } from '../context.ts';
import type { Io } from '../io.ts';
import { properties, shownTime } from '../text/text.ts';

const receiptText = (claims: ReceiptClaims, receiptUrl: string): string => {
  const { amount, vendor, transaction } = claims;
  return properties([
    ['Paid', displayUsdc(amount.gross)],
    ['To', vendor.service_name],
    ['For', claims.item ?? null],
    ...vendor.payees.map((payee): [string, string] => [
      'Paid to',
      vendor.payees.length === 1 ? payee.address : `${payee.address} (${displayUsdc(payee.amount)})`,
    ]),
    ['From', claims.payer_address],
    ['Fee', displayUsdc(amount.fee)],
    ['Refunded', claims.refunded === '0' ? null : displayUsdc(claims.refunded)],
    ['Confirmed', shownTime(claims.confirmed_at)],
    [
      'On chain',
      claims.chain_status === 'failed' ? 'reversed: the vendor does not have the money' : claims.chain_status,
    ],
    ['Transaction', transaction.signature],
    ['Settlement', claims.settlement_id],
    ['Signature', `valid, of the ${claims.env} environment`],
    ['Show it', receiptUrl],
  ]);
};

export const addReceipt = (program: Command, io: Io): void => {
  program
    .command('receipt')
    .argument('<settlement-id>', 'the payment')
    .summary('print the signed receipt of a payment')
    .description(
      'Prints the receipt of a payment, and verifies its signature with the published keys. Uses the key in ' +
        'DELEGATE_KEY or SERVICE_KEY, or your sign-in. With --json, `receipt` is the signed text, which anyone can verify.',
    )
    .action(async (settlement_id: string, _options, command: Command) => {
      const context = contextOf(io, command);
      const client =
        context.keys.service !== undefined && context.keys.delegate === undefined
          ? context.vendor()
          : await context.payer();
      const answer = await client.settlement.getReceipt({ settlement_id });
      const claims = await verifyReceipt(answer.receipt, {
        baseUrl: context.url,
        environment: context.environment,
        fetch: context.fetch,
      });
      print(context, { ...answer, claims }, () => receiptText(claims, answer.receipt_url));
    });
};
