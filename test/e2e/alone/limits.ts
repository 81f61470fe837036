import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { createApi } from '../../../deploy/local/seed/api.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { newId } from '../../../shared/lib/id.ts';
import type { GatewayWithLimits } from '../../support/actors/gateway-with-limits.ts';
import { tally } from '../../support/servers/stack.ts';

/**
 * The default limits of an account.
 * @param stack the running stack, once it is started
 * @param gateway its gateway with the default limits
 */
export const limits = (stack: () => RunningStack, gateway: () => GatewayWithLimits): void =>
  describe('the limits of an account', () => {
    let running: RunningStack;
    let vendor: Vendor;
    let consumer: Consumer;
    const api = () => createApi(gateway().url);

    beforeAll(async () => {
      running = stack();
      [vendor, consumer] = await Promise.all([
        createVendor(api(), running.stack),
        createConsumer(api(), running.stack),
      ]);
    }, 60_000);

    test('call 21 of a minute gets 429 with an exact Retry-After, and failed calls count', async () => {
      const startedAt = Date.now();
      const quote = await quoteOf(api(), vendor);
      const answers = [];
      for (let i = 0; i < 21; i += 1)
        answers.push(await settleWith(api(), consumer.token, quote, `limit-${i}`));
      expect(tally(answers.map(({ status }) => status))).toEqual({ 200: 1, 409: 19, 429: 1 });
      const refused = answers.at(-1)!;
      expect(refused.body.error).toMatchObject({
        code: 'rate_limited',
        money_moved: 'unknown',
        safe_action: 'retry_same_attempt',
      });
      // The first of the 20 leaves the window 60 s after it arrived. The next call is allowed then,
      // and not before.
      const waitMs = Number(refused.headers.get('retry-after')) * 1000;
      const freeInMs = 60_000 - (Date.now() - startedAt);
      expect(waitMs).toBeGreaterThanOrEqual(freeInMs);
      expect(waitMs).toBeLessThan(freeInMs + (Date.now() - startedAt) + 1000);
      // Another operation of the same account has a separate window.
      expect((await api()('GET /v1/settlements', { token: consumer.token })).status).toBe(200);
    });

    test('keys and delegates of one account share its limits, and another account has separate ones', async () => {
      const token = consumer.token;
      const vendorToken = vendor.signIn.access_token;
      const second = (
        await api()<{ service_id: string; api_key: string }>('POST /v1/services', {
          token: vendorToken,
          body: { name: 'Second', price: '1000000', payout_address: vendor.payout.publicKey.toBase58() },
        })
      ).body;
      const keys = [vendor, { apiKey: second.api_key, serviceId: second.service_id }];
      // One quote of this minute was created above.
      const quotes = [];
      for (let i = 0; i < 31; i += 1) {
        const { apiKey, serviceId } = keys[i % 2]!;
        quotes.push(await api()('POST /v1/quote', { token: apiKey, body: { service_id: serviceId } }));
      }
      const statuses = tally(quotes.map(({ status }) => status));
      expect(statuses[429]).toBeGreaterThanOrEqual(1);
      expect(statuses[201]).toBeLessThanOrEqual(30);
      expect(quotes.at(-1)!.status).toBe(429);

      // The settles above used up the account's 20, also for new keys of the account.
      for (let i = 0; i < 2; i += 1) {
        const delegate = await api()<{ api_key: string }>('POST /v1/delegates', {
          token,
          body: { name: 'Robot', wallet_id: consumer.walletId, limits: {} },
        });
        expect(delegate.status).toBe(201);
        const answer = await settleWith(api(), delegate.body.api_key, { quote_token: 'e30.e30' });
        expect(answer.status).toBe(429);
      }
      const other = await createConsumer(api(), running.stack, { balance: 0n, allowance: 0n });
      expect((await settleWith(api(), other.token, { quote_token: 'e30.e30' })).status).toBe(400);
    });

    test('rotation is limited to 3 per minute, reveal to 5 per 5 minutes, failed calls included', async () => {
      const token = vendor.signIn.access_token;
      const of = async (path: `/${string}`, count: number) => {
        const answers = [];
        for (let i = 0; i < count; i += 1)
          answers.push(await api()(`POST ${path}`, { token, body: { wrong: i } }));
        return tally(answers.map(({ status }) => status));
      };
      expect(await of(`/v1/services/${vendor.serviceId}/key/rotate`, 4)).toEqual({ 400: 3, 429: 1 });
      expect(await of(`/v1/services/${vendor.serviceId}/key/reveal`, 6)).toEqual({ 400: 5, 429: 1 });
      // Keys of services and of delegates are counted together.
      for (const call of ['rotate', 'reveal'])
        expect(await of(`/v1/delegates/${newId('del')}/key/${call}`, 1)).toEqual({ 429: 1 });
    });
  });
