import type { contracts } from './index.ts';

/** The parts of the reference: operations by what people do with them, not by service. */

type Contracts = typeof contracts;
export type OperationId = {
  [S in keyof Contracts]: `${S}.${string & keyof Contracts[S]['operations']}`;
}[keyof Contracts];
type Tag = {
  name: string;
  description: string;
  /** In the order in which they are needed. */
  operations: readonly OperationId[];
};

/** The tag of the events, which are no operations. */
export const EVENTS_TAG = 'Events';

/** In the order of the reference. Every operation is in exactly one of them. */
export const TAGS: readonly Tag[] = [
  {
    name: 'Sell an API',
    description:
      'Create a service with a price, and use its key to quote a call, and to redeem the payment before you deliver.',
    operations: [
      'identity.createService',
      'quote.create',
      'quote.createPaymentLink',
      'quote.listPaymentLinks',
      'quote.getPaymentLink',
      'quote.deactivatePaymentLink',
      'settlement.redeem',
      'settlement.verify',
      'settlement.consume',
      'settlement.usage',
      'settlement.capture',
      'settlement.void',
      'quote.list',
      'quote.get',
      'identity.listServices',
      'identity.getService',
      'identity.showFee',
      'identity.updateService',
      'identity.checkServiceDomain',
      'identity.deleteService',
      'identity.rotateServiceKey',
      'identity.revealServiceKey',
      'identity.verifyServiceReveal',
    ],
  },
  {
    name: 'Pay',
    description:
      'Pay a quote with a delegate key or a sign-in, and read what became of a payment. Repeat a lost call with the ' +
      'same `payment_attempt_id`: it never charges twice.',
    operations: [
      'settlement.settle',
      'settlement.close',
      'quote.openPaymentLink',
      'settlement.payLink',
      'quote.describePhonePayment',
      'quote.requestPhonePayment',
      'settlement.followPhonePayment',
      'settlement.get',
      'settlement.list',
      'settlement.getReceipt',
      'settlement.listDeclines',
      'settlement.payExternal',
      'settlement.reportExternal',
    ],
  },
  {
    name: 'Delegates and approvals',
    description:
      'Give a program a key that pays within limits, and decide about the payments that need the owner.',
    operations: [
      'identity.createDelegate',
      'identity.listDelegates',
      'identity.getDelegate',
      'identity.getOwnDelegate',
      'identity.updateDelegate',
      'identity.deleteDelegate',
      'identity.rotateDelegateKey',
      'identity.revealDelegateKey',
      'identity.verifyDelegateReveal',
      'settlement.listApprovals',
      'settlement.getApproval',
      'identity.approvalOptions',
      'identity.approve',
      'settlement.denyApproval',
    ],
  },
  {
    name: 'Wallets and money',
    description:
      'Link a wallet, let the platform spend up to a spending limit, and follow the money: transactions, test USDC, ' +
      'deposits and withdrawals.',
    operations: [
      'wallet.link',
      'wallet.provision',
      'wallet.list',
      'wallet.onboarding',
      'wallet.delegate',
      'wallet.revoke',
      'wallet.backup',
      'wallet.replaceBackup',
      'funding.devFund',
      'wallet.listTransactions',
      'wallet.spendingSummary',
      'wallet.salesSummary',
      'funding.createDeposit',
      'funding.listDeposits',
      'funding.getDeposit',
      'funding.createWithdrawal',
      'funding.approveWithdrawal',
      'funding.cancelWithdrawal',
      'funding.listWithdrawals',
      'funding.getWithdrawal',
      'funding.providerWebhook',
    ],
  },
  {
    name: 'Refunds and fees',
    description: 'Return a payment to its payer, and pay the fees that x402 payments leave open.',
    operations: [
      'funding.createRefund',
      'funding.submitRefund',
      'funding.cancelRefund',
      'funding.listRefunds',
      'funding.getRefund',
      'settlement.getFees',
      'settlement.createFeeQuote',
    ],
  },
  {
    name: 'Webhooks',
    description: 'Learn what happened, by signed calls to your server or by a list of events.',
    operations: [
      'webhook.createEndpoint',
      'webhook.listEndpoints',
      'webhook.getEndpoint',
      'webhook.updateEndpoint',
      'webhook.deleteEndpoint',
      'webhook.testEndpoint',
      'webhook.rotateEndpointSecret',
      'webhook.listDeliveries',
      'webhook.redeliver',
      'webhook.listEvents',
      'webhook.getEvent',
    ],
  },
  {
    name: EVENTS_TAG,
    description: 'What a webhook endpoint receives, by the type of the event.',
    operations: [],
  },
  {
    name: 'Account and sign-in',
    description:
      'Sign in by a mailed link, a passkey, or a device that a person confirms, and manage the account.',
    operations: [
      'identity.createAccount',
      'identity.requestMagicLink',
      'identity.readMagicLink',
      'identity.followMagicLink',
      'identity.verifyMagicLink',
      'identity.passkeyLoginOptions',
      'identity.passkeyLoginVerify',
      'identity.passkeyRegisterOptions',
      'identity.passkeyRegisterVerify',
      'identity.startDeviceSignIn',
      'identity.pollDeviceSignIn',
      'identity.readDeviceSignIn',
      'identity.decideDeviceSignIn',
      'identity.refresh',
      'identity.logout',
      'identity.getAccount',
      'identity.getSettings',
      'identity.updateSettings',
      'settlement.getAccountLimits',
      'settlement.updateAccountLimits',
      'identity.closeAccount',
      'identity.listPasskeys',
      'identity.deletePasskey',
      'identity.listKeys',
      'identity.listSessions',
      'identity.deleteSession',
      'identity.listSecurityEvents',
      'identity.noteExport',
    ],
  },
  {
    name: 'x402 and MPP',
    description:
      'Accept payments of clients of these protocols. With x402 middleware, this API is the facilitator.',
    operations: [
      'settlement.x402Supported',
      'settlement.x402Verify',
      'settlement.x402Settle',
      'settlement.foreignTerms',
      'settlement.acceptForeign',
      'settlement.reissueForeign',
      'settlement.getBlockhash',
    ],
  },
  {
    name: 'Status and keys',
    description:
      'Whether the API is up, what it serves, your newest calls, and the keys that verify its signatures.',
    operations: [
      'gateway.health',
      'gateway.ready',
      'gateway.environments',
      'gateway.requests',
      'gateway.jwks',
    ],
  },
];

/**
 * The tag of an operation, and its place in the reference.
 * @throws Error if no tag has the operation
 */
export const placeOf = (id: string): { tag: string; order: number } => {
  const ids: string[] = TAGS.flatMap(({ operations }) => operations);
  const tag = TAGS.find(({ operations }) => (operations as readonly string[]).includes(id));
  if (tag === undefined) throw new Error(`${id} has no place in shared/contract/tags.ts`);
  return { tag: tag.name, order: ids.indexOf(id) };
};
