// The back part of the minimum that a product of this shape does per call: one NATS request, one
// prepared statement, one answer. Values of a statement that begin with `$` come from the request,
// and `$new` is a new id.
import { connect, JSONCodec } from 'nats';
import pg from 'pg';
import { loginWith } from '../../shared/bus/nkey.ts';
import { newId } from '../../shared/lib/id.ts';
import type { SkeletonSettings } from './skeleton.ts';

const { statements, postgresUrl, servers, seed } = JSON.parse(process.argv[2]!) as SkeletonSettings;
const nc = await connect({ servers, ...loginWith(seed), inboxPrefix: '_INBOX_bench' });
// The same number of connections as each of our services.
const pool = new pg.Pool({ connectionString: postgresUrl, max: 10 });
const json = JSONCodec<Record<string, unknown>>();

const bound = (value: unknown, request: Record<string, unknown>): unknown => {
  if (value === '$new') return newId('q');
  return typeof value === 'string' && value.startsWith('$') ? request[value.slice(1)] : value;
};

nc.subscribe('bench.*', {
  callback: async (error, message) => {
    if (error) throw error;
    const name = message.subject.split('.')[1]!;
    const { text, values } = statements[name]!;
    const request = json.decode(message.data);
    const { rows } = await pool.query({
      name,
      text,
      values: values.map((value) => bound(value, request)),
    });
    message.respond(JSON.stringify(rows[0] ?? null));
  },
});
await nc.flush();
process.on('disconnect', () => process.exit());
process.send!('ready');
