// The front part of the minimum that a product of this shape does per call: bare Fastify and one
// NATS request. No validation, no credentials, no limits, no logs.
import Fastify from 'fastify';
import { connect } from 'nats';
import { loginWith } from '../../shared/bus/nkey.ts';

const { servers, seed } = JSON.parse(process.argv[2]!) as { servers: string; seed: string };
// A stack trace for each request would take a tenth of this process' time.
const nc = await connect({ servers, ...loginWith(seed), inboxPrefix: '_INBOX_bench', noAsyncTraces: true });
const app = Fastify();
app.post<{ Params: { operation: string } }>('/:operation', async ({ params, body }, reply) => {
  const answer = await nc.request(`bench.${params.operation}`, JSON.stringify(body));
  return reply.header('content-type', 'application/json; charset=utf-8').send(answer.string());
});
const address = await app.listen({ host: '127.0.0.1', port: 0 });
process.on('disconnect', () => process.exit());
process.send!({ address });
