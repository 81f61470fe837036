import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import type { Command } from 'commander';
import { type Client, exportAccount } from '../../../sdk/src/main.ts';
import { type Context, contextOf, print, printPage } from '../context.ts';
import type { Io } from '../io.ts';

/** Writes the export as lines of JSON. Only their owner can read the file. */
const writeExport = async (client: Client, file: string): Promise<number> => {
  const stream = createWriteStream(file, { flags: 'wx', mode: 0o600 });
  await once(stream, 'open');
  let lines = 0;
  try {
    for await (const line of exportAccount(client)) {
      if (!stream.write(`${JSON.stringify(line)}\n`)) await once(stream, 'drain');
      lines += 1;
    }
  } finally {
    stream.end();
    await finished(stream);
  }
  return lines;
};

const exportTo = async (context: Context, file: string | undefined): Promise<void> => {
  const client = await context.signedIn();
  if (file === undefined) {
    for await (const line of exportAccount(client)) context.io.out(`${JSON.stringify(line)}\n`);
    return;
  }
  const lines = await writeExport(client, file);
  print(context, { file, lines }, () => `Wrote ${lines} lines to ${file}.`);
};

export const addAccount = (program: Command, io: Io): void => {
  const account = program
    .command('account')
    .summary('export or close your account')
    .description('Exports or closes your account.');
  account
    .command('export')
    .description(
      'Writes the data of your account as lines of JSON. Each line has the operation that it comes from (`from`) and ' +
        'an object (`data`). Keys and backups of wallets are not in it. The export is a security event, and you get a mail.',
    )
    .option('-o, --output <file>', 'write to a new file that only you can read')
    .action((_options, command: Command) =>
      exportTo(contextOf(io, command), command.opts<{ output?: string }>().output),
    );
  account
    .command('close')
    .description('Shows where an account is closed: in the console. Export your data first.')
    .action((_options, command: Command) =>
      printPage(contextOf(io, command), '/account', 'Close the account'),
    );
};
