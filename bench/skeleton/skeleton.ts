import { startChild } from '../harness/child.ts';
import type { Run } from '../harness/run.ts';
import type { BenchStack } from '../harness/stack.ts';

/** One statement, with values as in service.ts. */
export type Statement = { text: string; values: readonly unknown[] };
export type SkeletonSettings = {
  servers: string;
  seed: string;
  postgresUrl: string;
  statements: Record<string, Statement>;
};

/**
 * Starts the skeleton on a stack's Postgres and NATS. It measures the same message flow without
 * content, in two processes like ours. Its tables are in the schema `bench`.
 * @returns the URL where `POST /<operation>` runs the statement of that name, and its processes by
 *   name
 */
export const startSkeleton = async (
  run: Run,
  { stack }: BenchStack,
  statements: Record<string, Statement>,
): Promise<{ origin: string; pids: Record<string, number> }> => {
  const nats = { servers: stack.nats_url, seed: stack.nats_nkey_seed };
  const settings: SkeletonSettings = { ...nats, postgresUrl: stack.postgres_urls.settlement, statements };
  const service = await startChild(new URL('./service.ts', import.meta.url), settings);
  run.defer(service.stop);
  const http = await startChild(new URL('./http.ts', import.meta.url), nats);
  run.defer(http.stop);
  const { address } = http.hello as { address: string };
  return { origin: address, pids: { 'skeleton, http': http.pid, 'skeleton, service': service.pid } };
};
