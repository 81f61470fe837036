export type { Amount, NamedUsdc } from '../amounts.ts';
export type { Environment } from '../checks/tokens.ts';
/** The headers that CORS must allow for pages of other origins. */
export { PAYMENT_HEADERS } from '../pay/base/dialects.ts';
export type { Refusal } from './base/answers.ts';
export { ConfigurationError } from './base/configuration.ts';
export type {
  Bill,
  Dialect,
  DialectFactory,
  Offer,
  PaywallContext,
  PresentedPayment,
} from './base/dialect.ts';
export type { Incoming } from './base/incoming.ts';
export type { PaywallEvent } from './base/log.ts';
export { type Meter, MeterStoppedError, type StopReason } from './base/meter.ts';
export type { MeteredAmount, MeteredResult, MeteredRoute } from './base/metered-route.ts';
export { meterOf, type PaywallPayment, paymentOf } from './base/payment.ts';
export type { FixedRoute, PaidRoute, Price } from './base/route.ts';
export { memoryStore, type PaywallStore } from './base/store.ts';
export { createPaywall, type Paywall, type PaywallOptions } from './entry/paywall.ts';
