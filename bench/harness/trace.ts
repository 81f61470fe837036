import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NatsConnection } from 'nats';
import type { BenchStack } from './stack.ts';

/**
 * One message or statement. `atMs` is in epoch milliseconds, for a statement its end. A `delivery`
 * is a message that the server delivers to a consumer of a stream. It was counted before, when it
 * was sent. `writes`: it commits a change.
 */
export type Trace = {
  atMs: number;
  kind: 'message' | 'delivery' | 'statement';
  who: string;
  what: string;
  writes: boolean;
};

/** Epoch seconds, process and user: the prefix of every statement in the log. */
const PREFIX = '%n %p %u|';
const ENTRY = /^(\d+\.\d+) (\d+) (\S+)\|LOG: {2}duration: \S+ ms {2}(?:statement|execute [^:]*): (.*)$/s;
const WRITES = /\b(insert into|delete from|update \S+( as \S+)? set)\b/i;

/**
 * Records every message of the account and every statement of the database. Recording costs time,
 * so nothing else is measured meanwhile.
 */
export const startTracing = async (bench: BenchStack): Promise<{ stop: () => Promise<Trace[]> }> => {
  const log = path.join(bench.stateDir, 'logs', 'postgres.log');
  if (!existsSync(log))
    throw new Error(
      'the log of Postgres does not exist: this benchmark needs Postgres as a process of the stack',
    );
  const set = async (settings: Record<string, string | null>): Promise<void> => {
    for (const [name, value] of Object.entries(settings)) {
      const change = value === null ? `reset ${name}` : `set ${name} = '${value}'`;
      await bench.db.query(`alter system ${change}`);
    }
    await bench.db.query('select pg_reload_conf()');
    await sleep(500);
  };
  const messages: Trace[] = [];
  const nats = await bench.nats();
  listen(nats, messages);
  await nats.flush();
  await set({ log_min_duration_statement: '0', log_line_prefix: PREFIX });
  const from = statSync(log).size;
  return {
    stop: async () => {
      await set({ log_min_duration_statement: null, log_line_prefix: null });
      await nats.close();
      const text = readFileSync(log).subarray(from).toString('utf8');
      return [...messages, ...statementsIn(text)].sort((a, b) => a.atMs - b.atMs);
    },
  };
};

const listen = (nats: NatsConnection, into: Trace[]): void => {
  nats.subscribe('>', {
    callback: (_error, { subject, reply = '' }) => {
      const [first, ...rest] = subject.split('.');
      // Ids and inboxes differ from call to call, but the kind of the message does not.
      const shown = rest.filter((token) => !/\d|[A-Z0-9]{20,}|^[A-Za-z0-9_-]{20,}$/.test(token));
      into.push({
        atMs: Date.now(),
        kind: reply.startsWith('$JS.ACK.') ? 'delivery' : 'message',
        who: 'NATS',
        what: [first, ...shown].join('.'),
        writes: false,
      });
    },
  });
};

/**
 * The statements of the services. A transaction counts once as a write, from its first statement
 * that writes.
 */
const statementsIn = (text: string): Trace[] => {
  const traces: Trace[] = [];
  const openTransactions = new Map<string, { writes: boolean }>();
  for (const entry of text.split(/\n(?=\d+\.\d+ \d+ \S*\|)/)) {
    const [, seconds, process, user, statement] = ENTRY.exec(entry) ?? [];
    // Statements of the benchmark have the superuser's name. Those of a service have the name of
    // its role.
    if (statement === undefined || user === 'postgres') continue;
    const what = statement.replace(/\s+/g, ' ').trim();
    const open = openTransactions.get(process!);
    let writes = false;
    if (/^(begin|start transaction)/i.test(what)) openTransactions.set(process!, { writes: false });
    else if (/^commit/i.test(what)) {
      writes = open?.writes ?? false;
      openTransactions.delete(process!);
    } else if (/^rollback\b(?! to)/i.test(what)) openTransactions.delete(process!);
    else if (open) open.writes ||= WRITES.test(what);
    else writes = WRITES.test(what);
    const who = user!.replace(/^.*?_test_/, '').replaceAll('_', '-');
    traces.push({ atMs: Number(seconds) * 1000, kind: 'statement', who, what, writes });
  }
  return traces;
};
