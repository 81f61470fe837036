import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { build } from './telemetry/version.ts';

/** Checks a dependency: resolves if it is available, rejects if it is not. */
type HealthCheck = () => Promise<unknown>;
export type HealthServer = {
  port: number;
  /** Begins to check these dependencies for readiness. Readiness is 503 before. */
  begin: (checks: Record<string, HealthCheck>) => void;
  drain: () => void;
  close: () => Promise<void>;
};

const CHECK_TIMEOUT_MS = 2000;

/** Runs every check with a time limit, and reports which dependencies are available. */
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
 * The port for probes. `/v1/health` reports that the event loop runs, from the start of the
 * process, because a restart would not help while the bus is unavailable. `/v1/health/ready`
 * reports that the service has begun, that its Postgres and NATS answer, and that it is not
 * draining (503 otherwise).
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
    if (request.url === '/v1/health') return answer(200, { status: 'ok', ...build });
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
      // A signal may have stopped the server already.
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
