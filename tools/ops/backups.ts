import { existsSync } from 'node:fs';
import { copiesIn } from '../../shared/backup/copies.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { ageText } from './age.ts';
import type { Command } from './command.ts';
import { foldText, tableText } from './table.ts';

const NONE =
  'No backup is recorded. Set BACKUPS_FOLDER to the folder of the job `backup` to list its copies. Without one, make a copy now: npm run ops -- backup dump <folder> (docs/operations.md, Backup).';

/** The time of a copy is its name. */
const timeOf = (name: string): string =>
  name.replace(
    /T(\d\d)-(\d\d)-(\d\d)Z$/,
    (_, ...[hours, minutes, seconds]) => `T${hours}:${minutes}:${seconds}Z`,
  );

export const backupsCommands: readonly Command[] = [
  {
    name: 'backups',
    args: '',
    summary: 'Lists the copies of the databases, the newest first',
    details: 'BACKUPS_FOLDER names the folder of the job `backup`. The exit code is 1 if no copy is known.',
    read: async () => {
      const folder = process.env.BACKUPS_FOLDER;
      if (folder !== undefined && !existsSync(folder))
        throw new Refusal(`BACKUPS_FOLDER: there is no ${folder}`);
      const copies = folder === undefined ? [] : copiesIn(folder).toReversed();
      if (copies.length === 0) return { json: { copies }, text: foldText(NONE), code: 1 };
      const rows = copies.map((name) => [name, ageText(timeOf(name))]);
      return { json: { copies }, text: tableText([['copy', 'age'], ...rows]) };
    },
  },
];
