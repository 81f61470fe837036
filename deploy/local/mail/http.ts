import { createServer, type Server } from 'node:http';
import { inboxPage } from './inbox-page.ts';
import type { MailStore } from './store.ts';

const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

/** `GET /` the inbox, `GET /messages[?to=]` the same as JSON, newest first. */
export function mailHttp(store: MailStore): Server {
  return createServer((request, response) => {
    const answer = (status: number, type: string, body: string): void => {
      response.writeHead(status, { ...headers, 'content-type': `${type}; charset=utf-8` }).end(body);
    };
    // A page of another site whose name was pointed at this machine must not read sign-in links.
    if (!/^(127\.0\.0\.1|localhost)(:\d+)?$/.test(request.headers.host ?? '')) {
      return answer(421, 'text/plain', 'Use 127.0.0.1 or localhost.\n');
    }
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET') return answer(405, 'text/plain', 'Only GET.\n');
    if (url.pathname === '/') return answer(200, 'text/html', inboxPage(store.list()));
    if (url.pathname === '/messages') {
      const messages = store.list(url.searchParams.get('to') ?? undefined);
      return answer(200, 'application/json', JSON.stringify(messages));
    }
    answer(404, 'text/plain', 'There are / and /messages.\n');
  });
}
