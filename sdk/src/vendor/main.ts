export type { Amount, NamedUsdc } from '../amounts.ts';
/** The headers that CORS must allow for pages of other origins. */
export { PAYMENT_HEADERS } from '../pay/dialects.ts';
export type { Environment } from '../tokens.ts';
export type { Refusal } from './answers.ts';
export type { Bill, Dialect, DialectFactory, Offer, PaywallContext, Presented } from './dialect.ts';
export type { Incoming } from './incoming.ts';
export type { PaywallEvent } from './log.ts';
export { type Meter, MeterStoppedError, type StopReason } from './meter.ts';
export type { MeteredAmount, MeteredResult, MeteredRoute } from './metered-route.ts';
export { meterOf, type PaywallPayment, paymentOf } from './payment.ts';
export { createPaywall, type Paywall, type PaywallOptions } from './paywall.ts';
export type { FixedRoute, PaidRoute, Price } from './route.ts';
export { memoryStore, type PaywallStore } from './store.ts';
