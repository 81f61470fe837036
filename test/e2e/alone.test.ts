import { afterAll, beforeAll } from '@jest/globals';
import type { RunningStack } from '../../deploy/local/stack/stack.ts';
import { type GatewayWithLimits, startGatewayWithLimits } from '../support/actors/gateway-with-limits.ts';
import { facilitatorFaults } from './alone/facilitator-faults.ts';
import { limits } from './alone/limits.ts';
import { lostEvents } from './alone/lost-events.ts';
import { openShop } from './alone/open-shop.ts';
import { operators } from './alone/operators.ts';
import { outgoingPause } from './alone/outgoing-pause.ts';
import { plans } from './alone/plans.ts';
import { scenarios } from './alone/scenarios.ts';
import { startAlone } from './alone/stack.ts';

/**
 * What needs the default limits, or pauses, slows down or kills what all others use: one stack
 * beside the common one, and one part after the other. Each part has its own accounts, and sets the
 * pace of the chain that it needs.
 */
let running: RunningStack;
let limited: GatewayWithLimits;
beforeAll(async () => {
  running = await startAlone();
  limited = await startGatewayWithLimits(running);
});
afterAll(async () => {
  await limited?.stop();
  await running?.stop();
});

const stack = () => running;
const gateway = () => limited;
limits(stack, gateway);
openShop(stack, gateway);
// The audit must list the changes of operators and no others: they come before the pause.
operators(stack);
scenarios(stack);
outgoingPause(stack);
facilitatorFaults(stack);
lostEvents(stack);
// Last: it fills the tables.
plans(stack);
