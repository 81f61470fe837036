import { openBase, runService } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { funding, identity, quote, settlement, webhook } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { loadConfig } from '../../shared/lib/config.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { recordEvents } from './account-events.ts';
import { config as schema } from './config.ts';
import { depositChanged } from './consumers/funding.depositChanged.ts';
import { refundChanged } from './consumers/funding.refundChanged.ts';
import { withdrawalChanged } from './consumers/funding.withdrawalChanged.ts';
import { delegateChanged } from './consumers/identity.delegateChanged.ts';
import { keyChanged } from './consumers/identity.keyChanged.ts';
import { expired as quoteExpired } from './consumers/quote.expired.ts';
import { accepted } from './consumers/settlement.accepted.ts';
import { expired } from './consumers/settlement.expired.ts';
import { failed } from './consumers/settlement.failed.ts';
import { finalized } from './consumers/settlement.finalized.ts';
import { issued } from './consumers/settlement.issued.ts';
import { redeemed } from './consumers/settlement.redeemed.ts';
import { reversed } from './consumers/settlement.reversed.ts';
import type { Deps } from './deps.ts';
import { createEndpoint } from './handlers/createEndpoint.ts';
import { deleteEndpoint } from './handlers/deleteEndpoint.ts';
import { getEndpoint } from './handlers/getEndpoint.ts';
import { getEvent } from './handlers/getEvent.ts';
import { listDeliveries } from './handlers/listDeliveries.ts';
import { listEndpoints } from './handlers/listEndpoints.ts';
import { listEvents } from './handlers/listEvents.ts';
import { redeliver } from './handlers/redeliver.ts';
import { rotateEndpointSecret } from './handlers/rotateEndpointSecret.ts';
import { testEndpoint } from './handlers/testEndpoint.ts';
import { updateEndpoint } from './handlers/updateEndpoint.ts';
import { startDeliver } from './jobs/deliver.ts';
import { purge } from './jobs/purge.ts';
import { collectDeliveries } from './readings.ts';
import { createSecrets } from './secrets.ts';
import { createSender } from './send.ts';

const PURGE_EVERY_MS = 60_000;
/** A hook travels longer than this: events of a moment share a statement. */
const BATCH_WINDOW_MS = 100;

const config = loadConfig(schema);
const base = await openBase('webhook', config);
const { bus, pool, clock, relay, logger, quarantine } = base;

const parts = {
  pool,
  logger,
  clock: clock.now,
  cursorKey: config.CURSOR_KEY,
  relay,
  secrets: createSecrets(config.SECRETS_KEY),
  sender: createSender({
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    timeoutMs: config.DELIVERY_TIMEOUT_MS,
  }),
};
const deliveries = startDeliver(parts);
const deps: Deps = { ...parts, pokeDeliveries: deliveries.poke };

const batching = { quarantine, batchWindowMs: BATCH_WINDOW_MS };
const consuming = [
  subscribeInBatches(bus, quote, { expired: quoteExpired }, recordEvents(deps), batching),
  subscribeInBatches(
    bus,
    settlement,
    { accepted, issued, finalized, failed, reversed, redeemed, expired },
    recordEvents(deps),
    batching,
  ),
  subscribeInBatches(
    bus,
    funding,
    { withdrawalChanged, refundChanged, depositChanged },
    recordEvents(deps),
    batching,
  ),
  subscribeInBatches(bus, identity, { delegateChanged, keyChanged }, recordEvents(deps), batching),
];
const operating = operatorHandlers({ pool, consuming });

await runService(base, {
  serving: serve(
    bus,
    webhook,
    {
      createEndpoint: createEndpoint(deps),
      listEndpoints: listEndpoints(deps),
      getEndpoint: getEndpoint(deps),
      updateEndpoint: updateEndpoint(deps),
      deleteEndpoint: deleteEndpoint(deps),
      rotateEndpointSecret: rotateEndpointSecret(deps),
      listDeliveries: listDeliveries(deps),
      redeliver: redeliver(deps),
      testEndpoint: testEndpoint(deps),
      listEvents: listEvents(deps),
      getEvent: getEvent(deps),
      ...operating,
    },
    { now: clock.now, calls: idempotentCalls(pool) },
  ),
  consuming,
  jobs: [
    deliveries,
    everyMs(PURGE_EVERY_MS, 'purge', purge(deps), logger),
    startPurgeCalls({ pool, logger }),
  ],
  gauges: [collectDeliveries(pool)],
});
