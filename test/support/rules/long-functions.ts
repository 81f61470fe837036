/**
 * The functions of the product over 70 lines, with their lengths. The list may only get shorter.
 * The factories of the SDK, the console and the local chain store their state in a closure, so that
 * a caller sees only the functions.
 */
export const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
  'bench/harness/seed.ts: paymentStatements': 95,
  'console/src/consumer/approval.tsx: Decision': 90,
  'console/src/consumer/approvals.tsx: ApprovalsPage': 86,
  'console/src/consumer/activity/export.tsx: ExportCsv': 72,
  'console/src/consumer/withdrawals.tsx: NewWithdrawal': 88,
  'console/src/consumer/withdrawals.tsx: WithdrawalTable': 73,
  'console/src/home/checklist.tsx: Checklist': 72,
  'console/src/session/link-page.tsx: LinkPage': 79,
  'console/src/api/store.ts: createStore': 97,
  'console/src/selling/sales/pay-fees.tsx: PayFees': 86,
  'console/src/selling/sales/refund-signing.tsx: SignRefund': 95,
  'console/src/selling/sales/refund.tsx: Prepare': 75,
  'console/src/selling/service-form.tsx: ServiceForm': 77,
  'console/src/selling/sales/settlement.tsx: Refunds': 85,
  'console/src/selling/trying/trial.ts: createTrial': 90,
  'console/src/selling/trying/try.tsx: Exchange': 89,
  'console/src/selling/webhooks/webhook-form.tsx: EndpointForm': 74,
  'console/src/selling/webhooks/webhook.tsx: EndpointDetails': 94,
  'deploy/compose/init.ts: composeFiles': 71,
  'deploy/local/chain/bank.ts: createBank': 125,
  'deploy/local/chain/chain.ts: openChain': 154,
  'deploy/local/chain/ledger.ts: createLedger': 108,
  'deploy/local/chain/methods/accounts.ts: accountMethods': 87,
  'deploy/local/chain/methods/transactions.ts: transactionMethods': 77,
  'deploy/local/chain/rpc.ts: createRpc': 92,
  'deploy/local/chain/scenarios/scenario-methods.ts: scenarioMethods': 85,
  'deploy/local/chain/subscriptions.ts: createSubscriptions': 97,
  'deploy/local/processes/supervisor.ts: createSupervisor': 109,
  'deploy/local/stack/boot.ts: boot': 97,
  'sdk/src/paywall/quittance/quotes.ts: createQuotes': 95,
};
