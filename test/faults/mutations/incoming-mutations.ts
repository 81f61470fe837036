import type { Mutation } from './mutation.ts';

/** Rules of payments that clients of x402 and MPP have signed, and of who attacks by them. */
export const incomingMutations: readonly Mutation[] = [
  {
    name: 'adoption-judges-by-transfers',
    rule: '12: what names a reference and did not pay decides nothing',
    traffic: 'paywall',
    patches: [
      {
        file: 'services/chain-submitter/execution/adoption.ts',
        from: "if ((await findPaymentAmong(deps, ofOthers, order)) !== null) return 'by another';",
        to: "if (ofOthers.length > 0) return 'by another';",
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'no-fifth-account',
    rule: 'docs/design/interop.md, 3: the message names the accounts of its transfers and no other',
    traffic: 'paywall',
    patches: [
      {
        file: 'services/chain-submitter/incoming/policy.ts',
        from: 'transfer.reference === null',
        to: "transfer.name === 'transferChecked'",
      },
      {
        file: 'services/chain-submitter/incoming/policy.ts',
        from: 'if (accounts.some((key) => !named.has(key)))',
        to: 'if (accounts.every((key) => !named.has(key)))',
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'source-holds',
    rule: 'docs/design/interop.md, 3: live amounts of a source are within its balance',
    traffic: 'x402',
    patches: [
      {
        file: 'services/chain-submitter/incoming/store/intents.ts',
        from: "select coalesce(sum((i.request ->> 'amount')::bigint), 0)::bigint",
        to: "select 0 * coalesce(sum((i.request ->> 'amount')::bigint), 0)::bigint",
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'three-in-flight',
    rule: 'docs/economics.md: a source that never paid has three payments under way',
    traffic: 'x402',
    patches: [
      {
        file: 'services/chain-submitter/incoming/store/intents.ts',
        from: 'case when bad.failed >= $' + '{MAX_FAILED} then 0',
        to: 'case when q.asking > 0 then q.asking when bad.failed >= $' + '{MAX_FAILED} then 0',
      },
    ],
    faults: ['source-emptied-x402'],
  },
  {
    name: 'failed-keeps-its-fee',
    rule: 'docs/adr/0061: a payment that failed on chain keeps its accrued fee',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/record/store/record-progress.ts',
        from: 'case when $' + '{isIncluded} then 0 else coalesce(accrued_fee, 0) end as returned_fee',
        to: 'case when $' + '{isIncluded} then accrued_fee else coalesce(accrued_fee, 0) end as returned_fee',
      },
    ],
    faults: ['source-emptied-x402'],
  },
  {
    name: 'fees-are-paid-once',
    rule: 'docs/adr/0061: a payment of fees counts once',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/fee-accounts/store.ts',
        from: 'where $' + "{paysFees} and was = 'pending' group by 1",
        to: 'where $' + '{paysFees} group by 1',
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'one-payment-per-identifier',
    rule: 'docs/design/interop.md, 1: so is the payment-identifier, of what did not fail',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/keys/store.ts',
        from: 'OF_MESSAGE: Keys = { ...RETURNED, message',
        to: 'OF_MESSAGE: Keys = { quote: RETURNED.quote!, message',
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'refund-is-reserved',
    rule: 'docs/adr/0012: refunds are reserved of the net amount',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/record/store/refundable.ts',
        from: 'refund_reserved = refund_reserved + reserved.amount',
        to: 'refund_reserved = refund_reserved + 0 * reserved.amount',
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'reissue-names-its-success',
    rule: 'docs/adr/0043: a reissue names the success that was not delivered',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/record/store/incoming/incoming-payments.ts',
        from: 'and redeem_id = hand_out_id and redeem_id = $' + '{redeemId}',
        to: 'and redeem_id = hand_out_id and $' + '{redeemId}::text is not null',
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'one-settlement-per-message',
    rule: 'docs/design/interop.md, 1: the message is unique for ever',
    traffic: 'x402',
    sql: 'alter table settlement.settlement_keys drop constraint settlement_keys_pkey',
    faults: ['kill-identity'],
  },
  {
    name: 'money-moved-is-the-record',
    rule: 'docs/adr/0043: money_moved of a refusal comes from the record of the payment',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/record/model/refusal.ts',
        from: "if (row === null || hasEndedUnpaid(row)) return 'no';",
        to: "if (row === null || row.status !== 'expired') return 'no';",
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'closing-service-is-answered',
    rule: 'docs/adr/0043: a service that closes is answered about the payments that it has',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/incoming/vendor.ts',
        from: 'service.account_id !== account_id) throw',
        to: "service.account_id !== account_id || service.status !== 'active') throw",
      },
    ],
    faults: ['kill-identity'],
  },
];
