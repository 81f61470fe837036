import type { Mutation } from '../mutation.ts';

/** Rules of the gate. */
export const gateMutations: readonly Mutation[] = [
  {
    name: 'gate-gives-back-what-the-api-failed',
    rule: 'docs/adr/0078: what fails after the payment ends as failed, and is served again',
    traffic: 'gate',
    patches: [
      {
        file: 'gate/src/forward.ts',
        from: "void delivery?.finish('failed');",
        to: 'void delivery?.finish(null);',
      },
    ],
    faults: ['kill-webhook'],
  },
];
