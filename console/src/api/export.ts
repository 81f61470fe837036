import type { Input } from '../../../sdk/src/main.ts';
import { download } from '../lib/csv.ts';
import { useAction } from './data.ts';

type What = NonNullable<Input<'identity.noteExport'>>['of'];

/** Offers a CSV file to the user, after the export was noted for the owner of the account. */
export const useExport = (
  of: What,
  {
    name,
    lines,
    done,
  }: { name: () => string; lines: () => readonly string[]; done?: (name: string) => void },
) =>
  useAction((client) => client.identity.noteExport({ of }), {
    done: () => {
      const file = name();
      download(file, lines());
      done?.(file);
    },
  });
