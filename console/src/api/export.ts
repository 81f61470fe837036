import type { Client, Input } from '../../../sdk/src/main.ts';
import { download } from '../lib/csv.ts';
import { useAction } from './data.ts';

type What = NonNullable<Input<'identity.noteExport'>>['of'];

/**
 * Offers a CSV file to the user, after the export was noted for the owner of the account.
 * @param lines with the header line
 */
export const useExport = (
  of: What,
  {
    name,
    lines,
    done,
  }: {
    name: () => string;
    lines: (client: Client) => Promise<readonly string[]>;
    done?: (name: string, rows: number) => void;
  },
) =>
  useAction(
    async (client) => {
      await client.identity.noteExport({ of });
      return lines(client);
    },
    {
      done: (written) => {
        const file = name();
        download(file, written);
        done?.(file, written.length - 1);
      },
    },
  );
