import { afterAll, beforeAll } from '@jest/globals';
import { type RunningStack, startStack } from '../../deploy/local/stack/stack.ts';
import { externalServers } from '../support/external-servers.ts';
import { testStateDir } from '../support/test-state.ts';
import { limits } from './alone/limits.ts';
import { openShop } from './alone/open-shop.ts';
import { operators } from './alone/operators.ts';

/**
 * What needs the default limits of a stack, or pauses it for everybody: one stack beside the common
 * one, and one part after the other. Each part has its own accounts.
 */
let running: RunningStack;
beforeAll(async () => {
  running = await startStack({
    stateDir: testStateDir('alone'),
    ports: 'any',
    chainSlotMs: 100,
    durable: false,
    instances: { gateway: 2, settlement: 2 },
    external: externalServers,
  });
}, 120_000);
afterAll(() => running?.stop());

const stack = () => running;
limits(stack);
openShop(stack);
operators(stack);
