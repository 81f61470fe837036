import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RunningStack, startStack } from '../../../deploy/local/stack/stack.ts';
import type { Stack } from '../../../deploy/local/stack/stack-file.ts';
import { externalServers, testDatabases } from '../../support/jest/external-servers.ts';
import { testStateDir } from '../../support/servers/test-state.ts';

/** The limits of an account do not allow the polls of the scenarios. */
export const RATE_LIMIT_SCALE = 100;

/**
 * Waits until every replica applies an operator's change: 2 s (docs/spec/decisions.md). One replica
 * that refuses does not show that the other one does.
 */
export const everyReplicaApplies = () => sleep(2000);

/** Starts the stack of test/e2e/alone.test.ts. */
export const startAlone = (): Promise<RunningStack> =>
  startStack({
    stateDir: testStateDir('alone'),
    ports: 'any',
    chainSlotMs: 100,
    chainControl: true,
    rateLimitScale: RATE_LIMIT_SCALE,
    durable: false,
    operators: ['jane', 'joe'],
    instances: { gateway: 2, settlement: 2 },
    databases: testDatabases,
    external: externalServers,
  });

/** What stack.json says now: the pids change when processes were killed. */
export const runningAt = ({ stackFile }: Pick<RunningStack, 'stackFile'>): Stack =>
  JSON.parse(readFileSync(stackFile, 'utf8')) as Stack;

/** Sets the slot time of the chain. */
export const setPace = async ({ stack }: Pick<RunningStack, 'stack'>, slotMs: number): Promise<void> => {
  const response = await fetch(stack.environments.test!.rpc_url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'chain_clock', params: [{ slotMs }] }),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error !== undefined) throw new Error(`chain_clock: ${error.message}`);
};
