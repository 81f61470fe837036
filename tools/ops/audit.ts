import type { Command } from './command.ts';
import { everywhere, serviceNames } from './everywhere.ts';
import { tableText } from './table.ts';

export const auditCommands: readonly Command[] = [
  {
    name: 'audit',
    words: '',
    summary: 'What operators did, newest first, across all services',
    details: '--limit is per service. With --json: before, after and proofs too.',
    show: async (operator, _words, { limit }) => {
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const actions = await operator.call(everywhere[service], 'listOperatorActions', { limit });
          return actions.map((action) => ({ service, ...action }));
        }),
      );
      const all = lists.flat().sort((a, b) => (a.at < b.at ? 1 : -1));
      const rows = all.map(({ at, actor, action, target, reason }) => [at, actor, action, target, reason]);
      const text = all.length === 0 ? 'None.' : tableText([['at', 'who', 'what', 'of', 'why'], ...rows]);
      return { json: all, text };
    },
  },
];
