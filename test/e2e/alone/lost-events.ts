import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { connect } from 'nats';
import type pg from 'pg';
import { signal } from '../../../deploy/local/processes/process-identity.ts';
import {
  type Consumer,
  createConsumer,
  createVendor,
  quoteOf,
  settleWith,
  type Vendor,
} from '../../../deploy/local/seed/actors.ts';
import { type Api, createApi, must } from '../../../deploy/local/seed/api.ts';
import { refund } from '../../../deploy/local/seed/transfers.ts';
import { connectDatabases, type EveryDatabase } from '../../../deploy/local/servers/every-database.ts';
import type { RunningStack } from '../../../deploy/local/stack/stack.ts';
import { loginWith } from '../../../shared/bus/nkey.ts';
import { STREAMS } from '../../../shared/bus/topology.ts';
import { readEventDifferences } from '../../faults/checks/account-events.ts';
import type { WebhookReceiver } from '../../faults/checks/sent-webhooks.ts';
import { startWebhookReceiver } from '../../faults/checks/sent-webhooks.ts';
import { waitFor } from '../../support/base/wait.ts';
import { runningAt, setPace } from './stack.ts';

const SCHEMAS = ['settlement', 'chain_submitter', 'quote', 'wallet', 'funding', 'identity', 'webhook'];
const ACCEPTED_WITHIN_MS = 20_000;
const DONE_WITHIN_MS = 60_000;

/**
 * The stream of events is emptied while a service is stopped that reads it. What it had delivered
 * to the stopped process is lost, too, because the process is killed then.
 */
export const lostEvents = (stack: () => RunningStack): void =>
  describe('events that the stream has lost', () => {
    let [api, database, webhooks]: [Api, EveryDatabase, WebhookReceiver] = [] as never;
    let [vendor, consumer]: [Vendor, Consumer] = [] as never;
    const query = async <Row extends pg.QueryResultRow>(sql: string, values: unknown[] = []) =>
      (await database.query<Row>(sql, values)).rows;

    beforeAll(async () => {
      const { stack: at } = stack();
      api = createApi(at.gateway_url);
      database = connectDatabases(at.postgres_urls, { max: 2 });
      await setPace(stack(), 50);
      [vendor, consumer] = await Promise.all([createVendor(api, at), createConsumer(api, at)]);
      for (const token of [vendor.signIn.access_token, consumer.token])
        await must(
          api('PATCH /v1/accounts/me/settings', { token, body: { mail_payments: true } }),
          'settings',
        );
      webhooks = await startWebhookReceiver({ stack: at, query });
    });
    afterAll(async () => {
      await webhooks?.stop();
      await database?.end();
    });

    /** Stops services while something happens, and empties the stream before they run again. */
    const lose = async (services: readonly string[], happen: () => Promise<void>): Promise<void> => {
      const { processes, nats_url, nats_nkey_seed } = runningAt(stack());
      for (const name of services) signal(processes[name]!, 'SIGSTOP');
      try {
        await happen();
        // Everything is published, so nothing comes from an outbox. A stopped service publishes
        // nothing: what its own outbox holds is its output, which it publishes when it runs again.
        const schemas = SCHEMAS.filter((schema) => !services.includes(schema.replace('_', '-')));
        await waitFor(
          () => Promise.all(schemas.map((schema) => query(`select from ${schema}.outbox`))),
          (left) => left.flat().length === 0,
          DONE_WITHIN_MS,
        );
        const nc = await connect({ servers: nats_url, ...loginWith(nats_nkey_seed) });
        await (await nc.jetstreamManager()).streams.purge(STREAMS.events);
        await nc.close();
      } finally {
        for (const name of services) signal(processes[name]!, 'SIGKILL');
      }
    };
    const finalized = (settlementId: string) =>
      waitFor(
        () =>
          query<{ chain_status: string }>(
            'select chain_status from settlement.settlements where settlement_id = $1',
            [settlementId],
          ),
        ([row]) => row?.chain_status === 'finalized',
        DONE_WITHIN_MS,
      );
    const pay = async () =>
      (await must(settleWith(api, consumer.token, await quoteOf(api, vendor)), 'settle')) as {
        settlement_id: string;
        settlement_token: string;
      };

    test('every account has its events and was sent its webhooks, although webhook missed payments and a refund', async () => {
      const earlier = await pay();
      await finalized(earlier.settlement_id);
      const paid: string[] = [];
      await lose(['webhook'], async () => {
        for (let count = 0; count < 3; count += 1) {
          const { settlement_id, settlement_token } = await pay();
          paid.push(settlement_id);
          if (count > 0) continue;
          const body = { settlement_token, redeem_id: 'replica-1' };
          await must(
            api(`POST /v1/settlements/${settlement_id}/redeem`, { token: vendor.apiKey, body }),
            'redeem',
          );
        }
        const { refund_id } = await refund(api, vendor, earlier.settlement_id);
        for (const id of paid) await finalized(id);
        await waitFor(
          () =>
            query<{ status: string }>('select status from funding.refunds where refund_id = $1', [refund_id]),
          ([row]) => row?.status === 'finalized',
          DONE_WITHIN_MS,
        );
        paid.push(refund_id);
        const shown = 'select from webhook.events where object_id = any($1)';
        expect(await query(shown, [paid])).toEqual([]);
      });

      expect(await readEventDifferences({ query })).toEqual([]);
      expect(await webhooks.readUnsent()).toEqual([]);
      for (const token of [vendor.signIn.access_token, consumer.token]) {
        const { data } = await must(
          api<{ data: { object_id: string; type: string }[] }>('GET /v1/events?limit=100', { token }),
          'events',
        );
        const typesOf = (id: string) => data.filter((one) => one.object_id === id).map(({ type }) => type);
        const types = paid.map((id) => typesOf(id).sort());
        const issued = ['settlement.finalized', 'settlement.issued'];
        expect(types.slice(0, 3)).toEqual([[...issued, 'settlement.redeemed'], issued, issued]);
        expect(types[3]).toContain('refund.finalized');
      }
    });

    test('each payment is mailed once, although identity missed it', async () => {
      const quote = await quoteOf(api, vendor);
      const attempt = crypto.randomUUID();
      // The sign-in is checked before identity stops, and the payment is made afterwards.
      await setPace(stack(), ACCEPTED_WITHIN_MS);
      const settled = settleWith(api, consumer.token, quote, attempt);
      const [row] = await waitFor(
        () =>
          query<{ settlement_id: string }>(
            'select settlement_id from settlement.settlements where payment_attempt_id = $1',
            [attempt],
          ),
        (rows) => rows.length > 0,
        ACCEPTED_WITHIN_MS,
      );
      const { settlement_id } = row!;
      const mailed = async (to: string) => {
        const answer = await fetch(`${stack().stack.mail_url}/messages?to=${encodeURIComponent(to)}`);
        return ((await answer.json()) as { text: string }[]).filter(({ text }) =>
          text.includes(settlement_id),
        );
      };
      const both = async () =>
        Promise.all(
          [vendor, consumer].map(async ({ signIn }) => (await mailed(signIn.account.email)).length),
        );
      await lose(['identity'], async () => {
        await setPace(stack(), 50);
        await finalized(settlement_id);
        expect(await both()).toEqual([0, 0]);
      });
      await settled;
      await waitFor(both, ([toVendor, toPayer]) => toVendor! > 0 && toPayer! > 0, DONE_WITHIN_MS);
      // The margin is read again, and what was mailed is not mailed again.
      const position = 'select from identity.stream_position where missed_since is null';
      await query(
        'update identity.stream_position set read_until = app_now() where missed_since is not null',
      );
      await waitFor(
        () => query(position),
        (rows) => rows.length === 1,
        DONE_WITHIN_MS,
      );
      expect(await both()).toEqual([1, 1]);
    });
  });
