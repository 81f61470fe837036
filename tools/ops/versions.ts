import { contractList } from '../../shared/contract/index.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

const programs = contractList.map(({ name }) => name);

export const versionsCommands: readonly Command[] = [
  {
    name: 'versions',
    args: '',
    summary: 'Shows which version each process runs',
    details:
      'Each process of a gateway or service answers for itself. One that does not answer within a second is not shown.',
    show: async (operator) => {
      const processes = await operator.builds(programs);
      const missing = programs.filter((name) => !processes.some(({ program }) => program === name));
      const versions = new Set(processes.map(({ version, commit }) => `${version} ${commit}`));
      return {
        json: { processes, missing },
        text: [
          tableText([
            ['program', 'version', 'commit', 'started', 'replica'],
            ...processes.map(({ program, version, commit, started_at, replica_id }) => [
              program,
              version,
              commit,
              started_at,
              replica_id,
            ]),
          ]),
          ...(versions.size > 1 ? [`${versions.size} builds run side by side.`] : []),
          ...(missing.length > 0 ? [`No answer from ${missing.join(', ')}.`] : []),
        ].join('\n'),
        ...(missing.length > 0 && { code: 1 }),
      };
    },
  },
];
