import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import express from 'express';
import {
  type Consumer,
  createConsumer,
  createDelegate,
  createVendor,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { createApi } from '../../../deploy/local/seed/api.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { payingFetch } from '../../../sdk/src/pay/main.ts';
import { paid } from '../../../sdk/src/paywall/adapters/express.ts';
import { createPaywall, memoryStore, type PaywallEvent } from '../../../sdk/src/paywall/main.ts';
import type { GatewayWithLimits } from '../../support/actors/gateway-with-limits.ts';
import { tally } from '../../support/servers/stack.ts';

/** ANONYMOUS_GETS=10000 is the long form. */
const GETS = Number(process.env.ANONYMOUS_GETS ?? 2000);
const AT_ONCE = 64;

/**
 * A shop with its account’s default limits, while an anonymous client requests its price
 * repeatedly.
 * @param stack the running stack, once it is started
 * @param gateway its gateway with the default limits
 */
export const openShop = (stack: () => RunningStack, gateway: () => GatewayWithLimits): void =>
  describe('a shop with anonymous requests', () => {
    let running: RunningStack;
    let vendor: Vendor;
    let consumer: Consumer;
    let server: Server;
    let url: string;
    const events: PaywallEvent[] = [];
    const deliveries: unknown[] = [];

    beforeAll(async () => {
      running = stack();
      const api = createApi(gateway().url);
      [vendor, consumer] = await Promise.all([
        createVendor(api, running.stack),
        createConsumer(api, running.stack),
      ]);
      const app = express();
      server = app.listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const publicUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const paywall = createPaywall({
        baseUrl: gateway().url,
        serviceKey: vendor.apiKey,
        serviceId: vendor.serviceId,
        environment: 'test',
        publicUrl,
        store: memoryStore(),
        log: (event) => events.push(event),
      });
      app.get('/report', paid(paywall, { price: '50000' }), (request, response) => {
        deliveries.push(request.query.n);
        response.json({ n: request.query.n });
      });
      url = `${publicUrl}/report`;
    }, 120_000);
    afterAll(async () => {
      server?.closeAllConnections();
      server?.close();
    });

    test(`during ${GETS} anonymous requests a paying buyer is served`, async () => {
      const { api_key } = await createDelegate(createApi(gateway().url), consumer, {
        daily: '90000000',
      });
      const pay = payingFetch(fetch, {
        baseUrl: gateway().url,
        delegateKey: api_key,
        maxAmount: 50_000n,
      });
      const statuses: number[] = [];
      const bought: number[] = [];
      let asked = 0;
      const anonymous = async () => {
        while (asked < GETS) {
          asked += 1;
          // A third of them claim that a quote was refused. No new quotes are created for them.
          const headers: Record<string, string> =
            asked % 3 === 0 ? { 'x-quote-refused': `q_${String(asked).padStart(26, '0')}` } : {};
          const { status, body } = await fetch(url, { headers });
          await body?.cancel();
          statuses.push(status);
        }
      };
      const buyer = async () => {
        for (let n = 0; n < 5; n += 1) {
          while (asked < (GETS / 10) * (n + 3)) await new Promise((resolve) => setTimeout(resolve, 5));
          bought.push((await pay(`${url}?n=${n}`)).status);
        }
      };
      await Promise.all([buyer(), ...Array.from({ length: AT_ONCE }, anonymous)]);
      expect(tally(bought)).toEqual({ 200: 5 });
      expect(deliveries).toEqual(['0', '1', '2', '3', '4']);
      expect(tally(statuses)).toEqual({ 402: statuses.length });
      expect(events.filter(({ event }) => event === 'error')).toEqual([]);
    }, 300_000);
  });
