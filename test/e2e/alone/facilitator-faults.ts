import path from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signal } from '../../../deploy/local/processes/process-identity.ts';
import { createApi, must } from '../../../deploy/local/seed/api.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { waitFor, waitUntil } from '../../support/base/wait.ts';
import { INSTALL_MS, installInterop } from '../../support/others/interop.ts';
import { probeLostAnswer, probeRestart } from '../../support/others/interop-probes.ts';
import { interopStack } from '../../support/others/interop-stack.ts';
import { runningAt, setPace } from './stack.ts';

let running: RunningStack;
let interop: ReturnType<typeof interopStack>;
const PRICE = 50_000n;
const SUCCESS = { status: 200, body: { success: true } };
const duplicateOf = (transaction: unknown) => ({
  body: { success: false, errorReason: 'duplicate_settlement', transaction },
});

/**
 * The questions that test/interop/reference.test.ts asks the reference facilitator, with our
 * facilitator.
 */
export const facilitatorFaults = (stack: () => RunningStack): void =>
  describe('faults of the facilitator', () => {
    beforeAll(async () => {
      running = stack();
      interop = interopStack(running.stack, path.dirname(running.stackFile));
      await installInterop('x402');
      await setPace(running, 50);
    }, INSTALL_MS);

    test('when the answer of the chain is lost, the payment that was made succeeds', async () => {
      const { answers, receivedMicro } = await probeLostAnswer(await interop.newVendor());
      expect(answers).toMatchObject({
        settle: SUCCESS,
        again: duplicateOf(answers.settle!.body.transaction),
      });
      expect(receivedMicro).toBe(PRICE);
    }, 120_000);

    test('after kill -9 of every process that has a part in it, a payment that was made is named', async () => {
      const subject = await interop.newVendor();
      const { serviceKey, url } = subject.facilitator;
      const api = createApi(running.stack.gateway_url);
      const { answers, receivedMicro } = await probeRestart(subject, async () => {
        await waitFor(
          () =>
            must(
              api<{ data: { status: string }[] }>('GET /v1/settlements?rail=x402', { token: serviceKey }),
              'list',
            ),
          ({ data }) => data[0]?.status === 'redeemed',
        );
        for (const [name, pid] of Object.entries(runningAt(running).processes))
          if (/^(settlement|chain-submitter|gateway)(#|$)/.test(name)) signal(pid, 'SIGKILL');
        const headers = { authorization: `Bearer ${serviceKey}` };
        await waitUntil(
          () =>
            fetch(`${url}/supported`, { headers }).then(
              ({ ok }) => ok,
              () => false,
            ),
          { withinMs: 60_000 },
        );
        return subject.facilitator;
      });
      const { transaction } = answers.settle!.body;
      expect(answers).toMatchObject({
        settle: SUCCESS,
        verify: { body: { isValid: false, invalidReason: 'duplicate_settlement' } },
        again: duplicateOf(transaction),
      });
      expect(receivedMicro).toBe(PRICE);
    }, 120_000);
  });
