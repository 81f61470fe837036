export { type Exported, exportAccount } from './account-export.ts';
export {
  BadReceiptError,
  type ReceiptClaims,
  type VerifyReceiptOptions,
  verifyReceipt,
} from './checks/receipt.ts';
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookEventOf,
  type WebhookHeaders,
  WebhookVerificationError,
} from './checks/webhooks.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export { type Credential, cookieTokens, memoryTokens, type TokenStore, type Tokens } from './credential.ts';
export * from './errors.ts';
export * from './generated/errors.ts';
export type * from './generated/operations.ts';
export { AlreadyRedeemedError, type RedeemOnce } from './redeem.ts';
export {
  type AttemptStore,
  memoryAttempts,
  type Paid,
  type Settle,
  type SettleInput,
  type SettleOptions,
} from './settle.ts';
export type { Fetch } from './transport.ts';
export type { CallOptions, Input, Listing, OperationId, Output } from './types.ts';
