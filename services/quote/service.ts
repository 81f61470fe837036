import { recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { quote, settlement } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { feeRuleOf } from '../../shared/lib/money/fee-settings.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import type { Config } from './config.ts';
import { findQuoteRecords } from './operator/records.ts';
import { createPaymentLink } from './payment-links/create-payment-link.ts';
import { deactivatePaymentLink } from './payment-links/deactivate-payment-link.ts';
import { describePhonePayment } from './payment-links/describe-phone-payment.ts';
import { getPaymentLink } from './payment-links/get-payment-link.ts';
import { listPaymentLinks } from './payment-links/list-payment-links.ts';
import { openPaymentLink } from './payment-links/open-payment-link.ts';
import { redeemPayments } from './payment-links/redeem-payments.ts';
import { requestPhonePayment } from './payment-links/request-phone-payment.ts';
import type { Peers } from './peers.ts';
import { applyTransitions } from './quotes/apply-transitions.ts';
import { create } from './quotes/create.ts';
import { createFeeQuote } from './quotes/create-fee-quote.ts';
import { get } from './quotes/get.ts';
import { getAccountActivity } from './quotes/get-account-activity.ts';
import { getQuoteActivity } from './quotes/get-quote-activity.ts';
import { list } from './quotes/list.ts';
import {
  onSettlementAccepted,
  onSettlementAuthorized,
  onSettlementExtended,
  onSettlementFailed,
  onSettlementIssued,
  onSettlementVoided,
} from './quotes/on-settlement.ts';
import { querySettlement } from './quotes/query-settlement.ts';
import type { Terms } from './terms.ts';

const QUERY_EVERY_MS = 5000;
/** A buyer does not wait for it. */
const REDEEM_EVERY_MS = 1000;
/**
 * No caller waits for the status of a quote, so events that arrive close to each other share a
 * statement.
 */
const BATCH_WINDOW_MS = 250;

const termsOf = (config: Config): Terms => ({
  environment: config.ENVIRONMENT,
  mint: config.USDC_MINT,
  fee: feeRuleOf(config),
  signingKey: config.SIGNING_KEYS[0]!,
  cursorKeys: config.CURSOR_KEY,
  publicUrl: config.PUBLIC_URL,
});

/** Starts the quote service. */
export const createService = (base: ServiceBase, config: Config, peers: Peers): Service => {
  const { bus, pool, logger, quarantine } = base;
  const deps = { ...recordsOf(base), ...termsOf(config), ...peers };
  const consuming = [
    subscribeInBatches(
      bus,
      settlement,
      {
        accepted: onSettlementAccepted,
        authorized: onSettlementAuthorized,
        extended: onSettlementExtended,
        issued: onSettlementIssued,
        voided: onSettlementVoided,
        failed: onSettlementFailed,
      },
      applyTransitions(deps),
      { quarantine, batchWindowMs: BATCH_WINDOW_MS },
    ),
  ];
  const handlers = {
    create: create(deps),
    createFeeQuote: createFeeQuote(deps),
    createPaymentLink: createPaymentLink(deps),
    listPaymentLinks: listPaymentLinks(deps),
    getPaymentLink: getPaymentLink(deps),
    deactivatePaymentLink: deactivatePaymentLink(deps),
    openPaymentLink: openPaymentLink(deps),
    describePhonePayment: describePhonePayment(deps),
    requestPhonePayment: requestPhonePayment(deps),
    get: get(deps),
    list: list(deps),
    getAccountActivity: getAccountActivity(deps),
    getQuoteActivity: getQuoteActivity(deps),
    listSentEvents: listSentEvents(pool),
    ...operatorHandlers({ pool, consuming, findRecords: findQuoteRecords(pool) }),
  };
  return {
    serving: serve(bus, quote, handlers, { calls: idempotentCalls(pool) }),
    consuming,
    jobs: [
      everyMs(QUERY_EVERY_MS, 'querySettlement', querySettlement(deps), logger),
      everyMs(REDEEM_EVERY_MS, 'redeemLinkPayments', redeemPayments(deps), logger),
      startPurgeCalls({ pool, logger }),
    ],
  };
};
