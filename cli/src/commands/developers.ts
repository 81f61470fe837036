import type { Command } from 'commander';
import { contextOf } from '../context.ts';
import type { Io } from '../io.ts';
import { shownTime } from '../text/text.ts';
import { newest, printList, withLimit } from './printed-list.ts';

/** `quittance requests list`: the newest calls of the account, to find why one was refused. */
export const addRequests = (program: Command, io: Io): void => {
  const requests = program
    .command('requests')
    .summary('the newest calls of your keys and programs')
    .description('The newest calls of your account: 100 of the last 7 days, and the refused ones apart.');
  withLimit(requests.command('list'))
    .option('--refused', 'only calls that were answered with an error')
    .description('Lists calls, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.signedIn();
      const { limit, refused = false } = command.opts<{ limit: string; refused?: boolean }>();
      const items = await newest(client.gateway.requests({ refused: refused ? 'true' : 'false' }), limit);
      printList(context, items, {
        empty: refused ? 'No call was refused.' : 'No call yet.',
        headings: ['TIME', 'CALL', 'STATUS', 'ERROR', 'REQUEST'],
        right: [2],
        row: ({ created_at, method, path, status, code, message, request_id }) => [
          shownTime(created_at),
          `${method} ${path}`,
          String(status),
          code === null ? '' : `${code}: ${message}`,
          request_id,
        ],
      });
    });
};

/** `quittance keys list`: which keys exist, and which of them nobody uses. */
export const addKeys = (program: Command, io: Io): void => {
  const keys = program
    .command('keys')
    .summary('keys that can be used')
    .description('The keys of your services and delegates that can be used.');
  withLimit(keys.command('list'))
    .description('Lists keys, newest first.')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const client = await context.signedIn();
      const items = await newest(client.identity.listKeys({}), command.opts<{ limit: string }>().limit);
      printList(context, items, {
        empty: 'No key yet. `quittance delegates create` makes one, and the console, under Services.',
        headings: ['KEY', 'OF', 'NAME', 'LAST USE', 'ENDS'],
        row: ({ beginning, service_id, delegate_id, name, last_used_at, expires_at }) => [
          `${beginning}…`,
          service_id ?? delegate_id ?? '',
          name,
          last_used_at === null ? 'never' : shownTime(last_used_at),
          expires_at === null ? 'never' : shownTime(expires_at),
        ],
      });
    });
};
