import type { Command } from './command.ts';
import { serviceContracts, serviceNames } from './service-contracts.ts';
import { tableText } from './table.ts';

export const auditCommands: readonly Command[] = [
  {
    name: 'audit',
    args: '',
    summary: 'Lists the actions of operators in all services, newest first',
    details: '--limit applies per service. --json adds the states before and after, and the proofs.',
    show: async (operator, _args, { limit }) => {
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const actions = await operator.call(serviceContracts[service], 'listOperatorActions', { limit });
          return actions.map((action) => ({ service, ...action }));
        }),
      );
      const all = lists.flat().sort((a, b) => (a.at < b.at ? 1 : -1));
      const rows = all.map(({ at, actor, action, target, reason }) => [at, actor, action, target, reason]);
      const text =
        all.length === 0 ? 'None.' : tableText([['at', 'actor', 'action', 'target', 'reason'], ...rows]);
      return { json: all, text };
    },
  },
];
