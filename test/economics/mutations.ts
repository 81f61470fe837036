import type { Mutation } from '../faults/mutations/mutation.ts';
import type { AttackName } from './attack.ts';

/** A rule that bounds an attack, switched off alone. It must then stop the settles of others. */
type EconomicsMutation = Pick<Mutation, 'name' | 'rule'> & {
  patches: NonNullable<Mutation['patches']>;
  attack: AttackName;
};

/** Rules of docs/economics.md. `npm run prove -- economics --mutate` runs the attack of each. */
export const economicsMutations: readonly EconomicsMutation[] = [
  {
    name: 'incoming-payments-have-their-own-hour',
    rule: 'docs/adr/0039: payments of x402 and MPP clients use no hourly cap of settles',
    patches: [
      {
        file: 'services/chain-submitter/limits/incoming-caps.ts',
        from: "hourlyCap('incoming', 'incoming', limits.incomingMicro)",
        to: "hourlyCap('incoming', 'environment', limits.incomingMicro)",
      },
    ],
    attack: 'x402 payments use up the hour of all vendors',
  },
  {
    name: 'incoming-payments-have-their-own-lamports',
    rule: 'docs/adr/0035: a budget that is used up stops its own kind of work and no other',
    patches: [
      {
        file: 'services/chain-submitter/limits/own-budgets.ts',
        from: "incomingFees: createVendorFees(budgets, limits, 'fees_incoming')",
        to: "incomingFees: createVendorFees(budgets, limits, 'fees_settle')",
      },
    ],
    attack: 'x402 payments use up the lamports of all vendors',
  },
];
