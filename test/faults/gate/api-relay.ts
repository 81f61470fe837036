import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { placeOf } from './relay.ts';

/** A report of use that the payment API has accepted. */
type Accepted = { settlementId: string; sentAt: number };
type Refusing = { status: 429 | 503; until: number };

const REPORT = /^\/v1\/settlements\/(stl_\w+)\/usage$/;
const RETRY_SECONDS = '1';

/** Stands between a gate and the payment API. It refuses reports of use, and knows the accepted. */
export const startApiRelay = async (apiUrl: string) => {
  const target = placeOf(apiUrl);
  const agent = new http.Agent({ keepAlive: true });
  const refusing = new Map<string, Refusing>();
  const accepted: Accepted[] = [];
  let refused = 0;
  const server = http.createServer((request, response) => {
    const { method, url, headers } = request;
    const sentAt = Date.now();
    const settlementId = REPORT.exec(url!)?.[1];
    const refusal = settlementId === undefined ? undefined : refusing.get(settlementId);
    if (refusal !== undefined && sentAt < refusal.until) {
      refused += 1;
      const code = refusal.status === 429 ? 'rate_limited' : 'service_unavailable';
      const error = { code, message: 'later', retryable: true, safe_action: 'retry_same_attempt' };
      request.resume();
      response.writeHead(refusal.status, {
        'content-type': 'application/json',
        'retry-after': RETRY_SECONDS,
      });
      response.end(JSON.stringify({ error }));
      return;
    }
    const asked = http.request({ ...target, agent, method, path: url, headers }, (answer) => {
      if (settlementId !== undefined && answer.statusCode === 200) accepted.push({ settlementId, sentAt });
      response.writeHead(answer.statusCode!, answer.headers);
      answer.on('error', () => response.destroy()).pipe(response);
    });
    asked.on('error', () => response.destroy());
    request.on('error', () => asked.destroy()).pipe(asked);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    refuse: (settlementId: string, refusal: Refusing): void => void refusing.set(settlementId, refusal),
    refused: () => refused,
    accepted: accepted as readonly Accepted[],
    stop: async (): Promise<void> => {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
