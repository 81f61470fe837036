import Fastify, { type FastifyInstance } from 'fastify';
import { isLocalHost, pageHeaders } from '../pages/local-page.ts';
import { listPage, tracePage } from './page.ts';
import { createTraceStore, Export } from './store.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

/**
 * A collector for one machine: `POST /v1/traces` accepts OTLP/HTTP in JSON, `GET /` lists the
 * traces and finds those of an id, `GET /traces[/:id]` returns them as JSON.
 */
export const createTraceServer = (): FastifyInstance => {
  const store = createTraceStore();
  const app = Fastify({ logger: false, bodyLimit: MAX_BODY_BYTES });
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      ...pageHeaders,
      'content-security-policy': pageHeaders['content-security-policy'].replace(
        "form-action 'none'",
        "form-action 'self'",
      ),
    });
    if (!isLocalHost(request.headers.host)) return reply.code(421).send('Use 127.0.0.1 or localhost.\n');
  });
  app.post('/v1/traces', async (request, reply) => {
    const sent = Export.safeParse(request.body);
    if (!sent.success) return reply.code(400).send({ error: 'the body must be OTLP in JSON' });
    store.add(sent.data);
    return {};
  });
  app.get<{ Querystring: { id?: string } }>('/', async ({ query: { id = '' } }, reply) => {
    const traces = id === '' ? store.list() : store.find(id.trim());
    return reply.type('text/html; charset=utf-8').send(listPage(traces, id));
  });
  app.get<{ Params: { id: string } }>('/trace/:id', async ({ params }, reply) => {
    const trace = store.get(params.id);
    if (trace === undefined) return reply.code(404).send('This trace does not exist or was dropped.\n');
    return reply.type('text/html; charset=utf-8').send(tracePage(trace));
  });
  app.get('/traces', async () => store.list());
  app.get<{ Params: { id: string } }>('/traces/:id', async ({ params }, reply) => {
    const trace = store.get(params.id);
    return trace ?? reply.code(404).send({ error: 'this trace does not exist or was dropped' });
  });
  return app;
};
