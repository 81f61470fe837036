import { identity } from '../../shared/contract/identity.ts';
import type { Inspection } from '../../shared/contract/operator.ts';
import { accountStatusOf, changeOutput, changeTable } from './account-status.ts';
import type { Command, Plan } from './command.ts';
import type { Operator } from './connect.ts';

const planFreeze = async (
  operator: Operator,
  argument: string | undefined,
  frozen: boolean,
  inspection: Inspection | null,
): Promise<Plan> => {
  const status = await accountStatusOf(operator, argument, inspection);
  const { account_id, frozen_at } = status;
  const now = frozen_at === null ? 'no' : `since ${frozen_at}`;
  return {
    table:
      (frozen_at !== null) === frozen ? null : changeTable(status, 'frozen', [now, frozen ? 'yes' : 'no']),
    notes: frozen
      ? [
          'Within 2 s on every gateway: no new quotes, payments, withdrawals, deposits, keys, delegates or wallet changes; quotes of',
          'its services cannot be paid. Sign-in, reads, redeem, verify, consume and refunds go on, and so do payments already accepted.',
        ]
      : ['Takes effect within 2 s on every gateway.'],
    make: async (attribution) =>
      changeOutput(await operator.call(identity, 'setFrozen', { account_id, frozen, ...attribution })),
  };
};

const args = '<account_id>';

export const accountsCommands: readonly Command[] = [
  {
    name: 'accounts freeze',
    args,
    summary: 'Freezes an account: it starts nothing new, and paid services are still delivered',
    details: 'The account learns it from the response to its next call (403 forbidden), not by mail.',
    plan: (operator, [argument], { inspection }) => planFreeze(operator, argument, true, inspection),
  },
  {
    name: 'accounts unfreeze',
    args,
    summary: 'Unfreezes an account',
    details: '',
    plan: (operator, [argument], { inspection }) => planFreeze(operator, argument, false, inspection),
  },
];
