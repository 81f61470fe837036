import type { Mutation } from '../mutations/mutation.ts';

const consumptions = 'services/settlement/record/store/consumptions.ts';
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
    patches: [{ file: consumptions, from: ' and units_consumed + wanted <= max_amount', to: '' }],
    sql: 'alter table settlement.settlements drop constraint settlements_units, drop constraint settlements_authorization',
    faults: ['kill-webhook'],
  },
  {
    name: 'capture-names-its-use',
    rule: '21: a newer use makes a capture decide again',
    traffic: 'tabs',
    patches: [{ file: authorizations, from: ' and s.units_consumed = input.used', to: '' }],
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
    patches: [{ file: stalled, from: 'case when extensions is not null then', to: 'case when false then' }],
    faults: ['kill-webhook'],
  },
];
