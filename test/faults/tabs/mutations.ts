import type { Mutation } from '../mutations/mutation.ts';

const uses = 'services/settlement/record/store/uses.ts';
const stalled = 'services/settlement/record/store/stalled.ts';
const authorizations = 'services/settlement/record/store/authorizations.ts';

const attempts = 'services/settlement/record/store/accept-attempts.ts';
const extensions = 'services/settlement/record/store/accept-extension.ts';

/** Rules of authorizations. */
export const tabMutations: readonly Mutation[] = [
  {
    name: 'use-stays-within-the-ceiling',
    rule: '20: the sum of the uses never exceeds the ceiling',
    traffic: 'tabs',
    patches: [{ file: uses, from: 'a.used_pico + wanted <= ', to: '0 < ' }],
    sql: 'alter table settlement.authorizations drop constraint authorizations_use',
    faults: ['kill-webhook'],
  },
  {
    name: 'capture-names-its-use',
    rule: '21: a newer use makes a capture decide again',
    traffic: 'tabs',
    patches: [{ file: authorizations, from: ' = input.used and ', to: ' >= 0 and ' }],
    faults: ['kill-webhook'],
  },
  {
    name: 'sums-follow-their-lock',
    rule: '25: what a payer has open is summed after its lock',
    traffic: 'tabs',
    patches: [
      { file: extensions, from: 'await lockAuthorizing(tx, partiesOf([extension.attempt]));', to: '' },
      {
        file: attempts,
        from: 'await lockAuthorizing(tx, partiesOf(candidates.map(({ attempt }) => attempt)));',
        to: '',
      },
    ],
    faults: ['kill-webhook'],
  },
  {
    name: 'capture-names-its-extensions',
    rule: '26: the job of a capture names every quote that has extended the ceiling',
    traffic: 'tabs',
    patches: [
      { file: stalled, from: 'case when is_authorization then nullif', to: 'case when false then nullif' },
    ],
    faults: ['kill-webhook'],
  },
];
