import { createServer, type Server } from 'node:http';
import { isLocalHost, pageHeaders } from '../pages/local-page.ts';
import { inboxPage } from './inbox-page.ts';
import type { MailStore } from './store.ts';

/**
 * Longer than clients pool connections. Otherwise a request would sometimes use a connection that
 * is just being closed.
 */
const KEEP_ALIVE_MS = 75_000;

/** `GET /[?to=]` the inbox, `GET /messages[?to=]` the same as JSON, newest first. */
export function mailHttp(store: MailStore): Server {
  return createServer({ keepAliveTimeout: KEEP_ALIVE_MS }, (request, response) => {
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { ...pageHeaders, 'content-type': `${type}; charset=utf-8` }).end(body);
    };
    if (!isLocalHost(request.headers.host)) {
      return answer(421, 'text/plain', 'Use 127.0.0.1 or localhost.\n');
    }
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET') return answer(405, 'text/plain', 'Only GET.\n');
    const messages = store.list(url.searchParams.get('to') ?? undefined);
    if (url.pathname === '/') return answer(200, 'text/html', inboxPage(messages));
    if (url.pathname === '/messages') {
      return answer(200, 'application/json', JSON.stringify(messages));
    }
    answer(404, 'text/plain', 'There are / and /messages.\n');
  });
}
