import { identity, MAX_LIMIT_FACTOR } from '../../shared/contract/identity.ts';
import { accountStatusesSaid, accountStatusOf, changeSaid, changeTable } from './account-status.ts';
import type { Command, Planned } from './command.ts';
import type { Operator } from './connect.ts';
import { Refusal } from './refusal.ts';

const planFactor = async (operator: Operator, word: string | undefined, factor: number): Promise<Planned> => {
  const status = await accountStatusOf(operator, word);
  const { account_id, limit_factor } = status;
  return {
    table: limit_factor === factor ? null : changeTable(status, 'limits', [`×${limit_factor}`, `×${factor}`]),
    notes: [
      'Within 2 s on every gateway, for all limits that are counted per account; those per address stay.',
    ],
    make: async (signed) =>
      changeSaid(
        await operator.call(identity, 'setLimitFactor', { account_id, limit_factor: factor, ...signed }),
      ),
  };
};

const factorOf = (word: string | undefined): number => {
  const factor = /^[1-9][0-9]{0,3}$/.test(word ?? '') ? Number(word) : 0;
  if (factor < 2 || factor > MAX_LIMIT_FACTOR)
    throw new Refusal(`the factor is a whole number from 2 to ${MAX_LIMIT_FACTOR}; \`limits clear\` is 1`);
  return factor;
};

export const limitsCommands: readonly Command[] = [
  {
    name: 'limits list',
    words: '',
    summary: 'Accounts that are frozen or have raised limits',
    details: '',
    show: async (operator, _words, { limit }) =>
      accountStatusesSaid(await operator.call(identity, 'listAccountStatuses', { limit })),
  },
  {
    name: 'limits set',
    words: '<account_id> <factor>',
    summary: `Multiplies the request limits of an account, by 2 to ${MAX_LIMIT_FACTOR}`,
    details: '',
    plan: (operator, [account, factor]) => planFactor(operator, account, factorOf(factor)),
  },
  {
    name: 'limits clear',
    words: '<account_id>',
    summary: 'Gives an account the limits of the contract again',
    details: '',
    plan: (operator, [account]) => planFactor(operator, account, 1),
  },
];
