import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';
import Fastify, { type FastifyInstance } from 'fastify';
import { isLocalHost, pageHeaders } from '../pages/local-page.ts';
import { readDashboards } from './panels.ts';
import { queryPanel } from './query.ts';

const MAX_MINUTES = 7 * 24 * 60;

const PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Dashboards</title>
<link rel="stylesheet" href="/chart.css">
<link rel="stylesheet" href="/page.css">
</head>
<body>
<header><h1>Dashboards</h1><nav></nav><select aria-label="Time"></select></header>
<main></main>
<script src="/page.js"></script>
</body>
</html>
`;

/** The program of the page with its chart library. */
const bundlePage = async (): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [path.join(import.meta.dirname, 'page/main.ts')],
    // Before the chart library, which reads the language.
    inject: [path.join(import.meta.dirname, 'page/language.ts')],
    bundle: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    logLevel: 'silent',
  });
  return outputFiles[0]!.text;
};

/**
 * The dashboards of deploy/observability on one page, for a machine without Grafana: `GET /` is the
 * page, `GET /dashboards` lists them, `GET /lines/:uid/:panel` has the lines of a panel.
 */
export const createDashboardServer = async (prometheus: string): Promise<FastifyInstance> => {
  const dashboards = readDashboards();
  const assets: Record<string, [type: string, text: string]> = {
    '/': ['text/html', PAGE],
    '/page.js': ['text/javascript', await bundlePage()],
    '/page.css': ['text/css', readFileSync(path.join(import.meta.dirname, 'page/page.css'), 'utf8')],
    '/chart.css': [
      'text/css',
      readFileSync(createRequire(import.meta.url).resolve('uplot/dist/uPlot.min.css'), 'utf8'),
    ],
  };
  const app = Fastify({ logger: false });
  app.addHook('onRequest', async (request, reply) => {
    void reply.headers({
      ...pageHeaders,
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'",
    });
    if (!isLocalHost(request.headers.host)) return reply.code(421).send('Use 127.0.0.1 or localhost.\n');
  });
  for (const [url, [type, text]] of Object.entries(assets))
    app.get(url, async (_request, reply) => reply.type(`${type}; charset=utf-8`).send(text));
  app.get('/dashboards', async () => dashboards);
  app.get<{ Params: { uid: string; panel: string }; Querystring: { minutes?: string } }>(
    '/lines/:uid/:panel',
    async ({ params, query }, reply) => {
      const panel = dashboards
        .find(({ uid }) => uid === params.uid)
        ?.panels.find(({ id }) => String(id) === params.panel);
      const minutes = Number(query.minutes ?? 15);
      if (panel === undefined || !(minutes > 0 && minutes <= MAX_MINUTES))
        return reply.code(404).send({ error: 'there is no such panel, or no such time' });
      return queryPanel(prometheus, panel, minutes);
    },
  );
  return app;
};
