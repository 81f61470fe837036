import { identity } from '../../shared/contract/identity.ts';
import { accountStatusesSaid, accountStatusOf, changeSaid, changeTable } from './account-status.ts';
import type { Command, Planned } from './command.ts';
import type { Operator } from './connect.ts';

const planFreeze = async (
  operator: Operator,
  word: string | undefined,
  frozen: boolean,
): Promise<Planned> => {
  const status = await accountStatusOf(operator, word);
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
      : ['Within 2 s on every gateway everything is as before.'],
    make: async (signed) =>
      changeSaid(await operator.call(identity, 'setFrozen', { account_id, frozen, ...signed })),
  };
};

const words = '<account_id>';

export const accountCommands: readonly Command[] = [
  {
    name: 'account show',
    words,
    summary: 'How an account stands',
    details: '',
    show: async (operator, [word]) => accountStatusesSaid([await accountStatusOf(operator, word)]),
  },
  {
    name: 'account freeze',
    words,
    summary: 'Takes nothing new from an account; what is paid is still delivered',
    details: 'The account is told so by the answer to its next call (403 forbidden), not by mail.',
    plan: (operator, [word]) => planFreeze(operator, word, true),
  },
  {
    name: 'account unfreeze',
    words,
    summary: 'Gives everything back',
    details: '',
    plan: (operator, [word]) => planFreeze(operator, word, false),
  },
];
