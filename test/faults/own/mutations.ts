import type { Mutation } from '../mutations/mutation.ts';

const approvals = 'services/settlement/approvals/store/approvals.ts';

/** Rules of approvals, refunds and bundles, which our own clients need. */
export const clientMutations: readonly Mutation[] = [
  {
    name: 'approval-is-locked',
    rule: 'docs/adr/0045: of a denial and a payment at the same time one comes first',
    patches: [{ file: approvals, from: '    limit 1 for share of a\n', to: '    limit 1\n' }],
    faults: ['commits-wait'],
  },
  {
    name: 'approval-is-of-its-attempt',
    rule: 'docs/adr/0045: one payment per approval',
    patches: [
      {
        file: approvals,
        from: 'and a.payment_attempt_id = candidate.payment_attempt_id\n      and a.delegate_id',
        to: 'and a.delegate_id',
      },
    ],
    faults: ['kill-webhook'],
  },
  {
    name: 'approval-is-of-its-quote',
    rule: 'docs/adr/0045: the quote, and with it the amount',
    patches: [
      {
        file: approvals,
        from: 'and a.amount = candidate.quote_amount and a.payees = candidate.payees',
        to: '',
      },
      {
        file: 'services/settlement/record/store/accept-attempts.ts',
        from: 'lockApprovals(sql.fragment`a.quote_id = candidate.quote_id`)',
        to: 'lockApprovals(sql.fragment`true`)',
      },
    ],
    faults: ['kill-webhook'],
  },
  {
    name: 'refund-locks-its-payment',
    rule: 'docs/spec/decisions.md, Funding: the refunds of a payment are at most its net amount',
    patches: [
      { file: 'services/settlement/record/store/refundable.ts', from: '    for update`);', to: '`);' },
    ],
    sql: 'alter table settlement.settlements drop constraint settlements_amounts',
    faults: ['kill-webhook'],
  },
  {
    name: 'refund-is-released-once',
    rule: 'docs/spec/decisions.md, Funding: a reservation is released once',
    patches: [
      {
        file: 'services/settlement/refunds/store.ts',
        from: 'do update set released_at = app_now() where r.released_at is null',
        to: 'do update set released_at = app_now()',
      },
    ],
    faults: ['kill-webhook'],
  },
  {
    name: 'failed-refund-is-released',
    rule: 'docs/spec/decisions.md, Funding: a refund that failed reserves nothing',
    patches: [
      {
        file: 'services/funding/transfers/model/refund.ts',
        from: "['void', 'failed', 'cancelled', 'expired']",
        to: "['void', 'cancelled', 'expired']",
      },
    ],
    faults: ['expiry-of-dropped-sends'],
  },
  {
    name: 'units-suffice',
    rule: 'docs/spec/decisions.md, Redeem: never more units than the quote prepaid',
    patches: [
      {
        file: 'services/settlement/record/store/consumptions.ts',
        from: ' and units_consumed + units <= units_total',
        to: '',
      },
    ],
    sql: 'alter table settlement.settlements drop constraint settlements_units',
    faults: ['kill-webhook'],
  },
  {
    name: 'delivery-is-counted-once',
    rule: 'docs/spec/decisions.md, Redeem: a request id consumes once',
    sql: 'alter table settlement.consumptions drop constraint consumptions_pkey',
    faults: ['kill-webhook'],
  },
];
