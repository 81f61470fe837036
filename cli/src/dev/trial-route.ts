import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPaywall, memoryStore } from '../../../sdk/src/paywall/main.ts';

/** A route of this command that can be paid, before the vendor has one. */

export const TRIAL_PRICE = '$0.05';
const PATH = '/hello';

const headersOf = ({ rawHeaders }: IncomingMessage): Headers => {
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) headers.append(rawHeaders[at]!, rawHeaders[at + 1]!);
  return headers;
};

const send = async (response: ServerResponse, said: Response): Promise<void> => {
  response.writeHead(said.status, Object.fromEntries(said.headers));
  response.end(Buffer.from(await said.arrayBuffer()));
};

/** Serves on this machine only, at a free port, until the process ends. Returns its address. */
export const startTrialRoute = async (
  service: { baseUrl: string; serviceId: string; serviceKey: string },
  onError: (message: string) => void,
): Promise<string> => {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const paywall = createPaywall({
    ...service,
    environment: 'test',
    publicUrl,
    store: memoryStore(),
    log: ({ event, message }) => {
      if (event === 'error' && message !== undefined) onError(message);
    },
  });
  const serve = paywall.protect({ price: TRIAL_PRICE }, () =>
    Response.json({ hello: 'You have paid for this.' }),
  );
  const answer = async (request: IncomingMessage): Promise<Response> => {
    const url = new URL(request.url ?? '/', publicUrl);
    if (url.pathname !== PATH || request.method !== 'GET')
      return Response.json({ error: `There is GET ${PATH} only.` }, { status: 404 });
    return serve(new Request(url, { headers: headersOf(request) }));
  };
  server.on('request', (request, response) => {
    answer(request)
      .then((said) => send(response, said))
      .catch((error: unknown) => {
        onError(String(error));
        response.writeHead(500).end();
      });
  });
  return `${publicUrl}${PATH}`;
};
