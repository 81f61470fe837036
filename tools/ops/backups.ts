import type { z } from 'zod';
import { settlement } from '../../shared/contract/settlement.ts';
import { ageText } from './age.ts';
import type { Command } from './command.ts';
import { foldText, tableText } from './table.ts';

type Runs = z.infer<typeof settlement.internal.listBackupRuns.output>;

const NONE =
  'No backup is recorded. Make a copy now (npm run ops -- backup dump <folder>), and have the job `backup` or an archive of the log make them by itself (docs/operations.md, Backup).';

const agoOf = (at: string | null | undefined): string => (at == null ? 'never' : `${ageText(at)} ago`);

/** The moment of the newest copy, the archive, and the newest drill. */
const summaryOf = ({ archived_at, runs }: Runs): string => {
  const copy = runs.find(({ kind, ok }) => kind === 'backup' && ok);
  const drill = runs.find(({ kind }) => kind === 'drill');
  return [
    `Newest copy: ${agoOf(copy?.taken_at)}.`,
    archived_at === null ? 'The log is not archived.' : `Log archived: ${agoOf(archived_at)}.`,
    `Last drill: ${agoOf(drill?.finished_at)}${drill === undefined ? '' : drill.ok ? ', good' : ', FAILED'}.`,
  ].join(' ');
};

const HEAD = ['finished', 'job', 'result', 'copy', 'rows', 'seconds', 'problem'];

export const backupsCommands: readonly Command[] = [
  {
    name: 'backups',
    args: '',
    summary: 'Shows the newest copies of the databases, the archive of the log, and the drills',
    details:
      'What the jobs `backup` and `drill` have recorded, the newest first. The exit code is 1 if there is neither a copy nor an archive.',
    show: async (operator, _args, { limit }) => {
      const json = await operator.call(settlement, 'listBackupRuns', { limit });
      const isSafe = json.archived_at !== null || json.runs.some(({ kind, ok }) => kind === 'backup' && ok);
      const rows = json.runs.map((run) => [
        run.finished_at,
        run.kind,
        run.ok ? 'good' : 'failed',
        run.copy ?? '–',
        run.rows === null ? '–' : String(run.rows),
        run.seconds.toFixed(1),
        run.problem ?? '–',
      ]);
      return {
        json,
        text: [
          isSafe ? summaryOf(json) : foldText(NONE),
          ...(rows.length === 0 ? [] : [tableText([HEAD, ...rows])]),
        ].join('\n\n'),
        code: isSafe ? 0 : 1,
      };
    },
  },
];
