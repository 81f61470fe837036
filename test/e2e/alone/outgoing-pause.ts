import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Api } from '../../../deploy/local/seed/api.ts';
import { must } from '../../../deploy/local/seed/api.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { payExternal, priceOf } from '../../support/actors/outgoing.ts';
import { INSTALL_MS } from '../../support/others/interop.ts';
import {
  delegateFor,
  startOutgoing,
  startVendor,
  stopOutgoing,
} from '../../support/others/outgoing-stack.ts';
import { opsAt } from '../../support/packages/ops.ts';
import { everyReplicaApplies, setPace } from './stack.ts';

let running: RunningStack;
let api: Api;

/** A pause of payments, for the outgoing ones of test/interop/outgoing.test.ts. */
export const outgoingPause = (stack: () => RunningStack): void =>
  describe('a pause of outgoing payments', () => {
    beforeAll(async () => {
      running = stack();
      await setPace(running, 100);
      ({ api } = await startOutgoing(running.stack, path.dirname(running.stackFile)));
    }, INSTALL_MS);
    afterAll(stopOutgoing, 60_000);

    test('a pause refuses new payments, and repeats of an attempt get their bytes', async () => {
      const vendor = await startVendor('honest');
      const delegate = await delegateFor([vendor.payTo]);
      const price = await priceOf(vendor.server.url);
      const ask = (attempt: string) => payExternal(api, delegate.api_key, price, attempt);
      const ops = opsAt(running.stackFile);
      const change = async (action: 'pause' | 'resume') => {
        const done = await ops('payments', action, '--reason', 'test', '--as', 'jane', '--yes', '--json');
        expect(done).toMatchObject({ code: 0 });
        await everyReplicaApplies();
      };
      const known = await must(ask('known'), 'pay');
      await change('pause');
      try {
        const refused = await ask('new');
        expect(refused).toMatchObject({ status: 503, body: { error: { money_moved: 'no' } } });
        expect((await must(ask('known'), 'repeat')).payment_signature).toBe(known.payment_signature);
      } finally {
        await change('resume');
      }
      expect((await ask('new')).status).toBe(200);
    }, 120_000);
  });
