import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A dependency check: resolves when it is up, rejects when it is not. */
type HealthCheck = () => Promise<unknown>;
export type HealthServer = {
  port: number;
  /** From now on readiness asks these; before it is 503. */
  begin: (checks: Record<string, HealthCheck>) => void;
  drain: () => void;
  close: () => Promise<void>;
};

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
 * The small port that probes ask: `/v1/health` says that the event loop turns, from the first moment on, since restarting
 * a process that waits for its bus would not bring the bus back. `/v1/health/ready` says that the service has begun, that its
 * own Postgres and NATS answer and that it is not draining (503 otherwise).
 */
export const startHealthServer = async ({
  host,
  port,
}: {
  host: string;
  port: number;
}): Promise<HealthServer> => {
  let phase: 'starting' | 'begun' | 'draining' = 'starting';
  let checks: Record<string, HealthCheck> = {};
  const server = createServer((request, response) => {
    const answer = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    if (request.url === '/v1/health') return answer(200, { status: 'ok' });
    if (request.url !== '/v1/health/ready')
      return answer(404, { error: { code: 'not_found', message: 'no such path' } });
    void runChecks(checks).then((dependencies) => {
      const ready = phase === 'begun' && Object.values(dependencies).every((state) => state === 'up');
      answer(ready ? 200 : 503, {
        status: phase === 'begun' ? (ready ? 'ready' : 'not_ready') : phase,
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
    begin: (wanted) => {
      checks = wanted;
      // A signal may have come first.
      if (phase === 'starting') phase = 'begun';
    },
    drain: () => {
      phase = 'draining';
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};
