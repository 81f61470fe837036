import type { Mutation } from './mutations.ts';

/** Rules of payments that clients of x402 and MPP have signed, and of who attacks by them. */
export const foreignMutations: readonly Mutation[] = [
  {
    name: 'adoption-judges-by-transfers',
    rule: '12: what names a reference and did not pay decides nothing',
    traffic: 'paywall',
    patches: [
      {
        file: 'services/chain-submitter/intents/adoption.ts',
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
        file: 'services/chain-submitter/foreign-payments/policy.ts',
        from: 'transfer.reference === null',
        to: "transfer.name === 'transferChecked'",
      },
      {
        file: 'services/chain-submitter/foreign-payments/policy.ts',
        from: 'if (accounts.some((key) => !named.has(key)))',
        to: 'if (accounts.every((key) => !named.has(key)))',
      },
    ],
    faults: ['redis-kill'],
  },
];
