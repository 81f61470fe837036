import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A dependency check: resolves when it is up, rejects when it is not. */
export type HealthCheck = () => Promise<unknown>;
export type HealthServer = { port: number; drain: () => void; close: () => Promise<void> };

const CHECK_TIMEOUT_MS = 2000;

/** Runs every check with a bound and says which are up. */
export const runChecks = async (
  checks: Record<string, HealthCheck>,
): Promise<Record<string, 'up' | 'down'>> =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(checks).map(async ([name, check]) => {
        const timeout = new Promise((_, reject) => setTimeout(reject, CHECK_TIMEOUT_MS).unref());
        const up = await Promise.race([check(), timeout]).then(
          () => 'up' as const,
          () => 'down' as const,
        );
        return [name, up] as const;
      }),
    ),
  );

/**
 * The small port that probes ask: `/v1/health` says that the event loop turns, `/v1/health/ready` that the
 * service's own Postgres and NATS answer and that it is not draining (503 otherwise).
 */
export const startHealthServer = async (
  { host, port }: { host: string; port: number },
  checks: Record<string, HealthCheck>,
): Promise<HealthServer> => {
  let draining = false;
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/v1/health') return answer(200, { status: 'ok' });
    if (request.url !== '/v1/health/ready')
      return answer(404, { error: { code: 'not_found', message: 'no such path' } });
    void runChecks(checks).then((dependencies) => {
      const ready = !draining && Object.values(dependencies).every((state) => state === 'up');
      answer(ready ? 200 : 503, {
        status: draining ? 'draining' : ready ? 'ready' : 'not_ready',
        dependencies,
      });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      draining = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
