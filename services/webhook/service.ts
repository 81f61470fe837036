import { recordsOf, type Service, type ServiceBase } from '../../shared/boot.ts';
import { serve } from '../../shared/bus/serve.ts';
import { funding, identity, quote, settlement, webhook } from '../../shared/contract/index.ts';
import { subscribeInBatches } from '../../shared/events/batch-consumer.ts';
import { subscribe } from '../../shared/events/consume.ts';
import { listSentEvents } from '../../shared/events/sent-events.ts';
import { idempotentCalls } from '../../shared/idempotency/calls.ts';
import { startPurgeCalls } from '../../shared/idempotency/store.ts';
import { everyMs } from '../../shared/lib/periodic.ts';
import { operatorHandlers } from '../../shared/operator/handlers.ts';
import { accountClosed } from './accounts/on-identity-account-closed.ts';
import { accountErased } from './accounts/on-identity-account-erased.ts';
import type { Config } from './config.ts';
import { startDeliver } from './deliveries/deliver.ts';
import { deliveryGauges } from './deliveries/gauges.ts';
import { listDeliveries } from './deliveries/list-deliveries.ts';
import { createEndpoint } from './endpoints/create-endpoint.ts';
import { deleteEndpoint } from './endpoints/delete-endpoint.ts';
import { getEndpoint } from './endpoints/get-endpoint.ts';
import { listEndpoints } from './endpoints/list-endpoints.ts';
import { resealSecrets } from './endpoints/reseal.ts';
import { rotateEndpointSecret } from './endpoints/rotate-endpoint-secret.ts';
import { createSecrets } from './endpoints/secrets.ts';
import { updateEndpoint } from './endpoints/update-endpoint.ts';
import { getEvent } from './events/get-event.ts';
import { listEvents } from './events/list-events.ts';
import * as onFunding from './events/on-funding.ts';
import * as onIdentity from './events/on-identity.ts';
import * as onQuote from './events/on-quote.ts';
import * as onSettlement from './events/on-settlement.ts';
import { purge } from './events/purge.ts';
import { recordEvents } from './events/record-events.ts';
import { redeliver } from './events/redeliver.ts';
import { testEndpoint } from './events/test-endpoint.ts';
import { listLateEndpoints } from './operator/list-late-endpoints.ts';
import { findEventRecords } from './operator/records.ts';
import { createSender } from './sender/sender.ts';

const PURGE_EVERY_MS = 60_000;
/** A scan of a small table. It finds something only after SECRETS_KEY has changed. */
const RESEAL_EVERY_MS = 60_000;
/**
 * Shorter than a delivery takes, so it delays none noticeably. Events within it share a statement.
 */
const BATCH_WINDOW_MS = 500;

const createDeps = (base: ServiceBase, config: Config) => {
  const sending = {
    ...recordsOf(base),
    cursorKeys: config.CURSOR_KEY,
    secrets: createSecrets(config.SECRETS_KEY),
    sender: createSender({
      allowPrivate: config.ALLOW_PRIVATE_TARGETS,
      timeoutMs: config.DELIVERY_TIMEOUT_MS,
    }),
  };
  const deliveries = startDeliver(sending);
  return { ...sending, deliveries, sendDeliveriesNow: deliveries.sendNow };
};

type Deps = ReturnType<typeof createDeps>;

const operations = (deps: Deps) => ({
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
});

const consume = ({ bus, quarantine }: ServiceBase, deps: Deps) => {
  const record = recordEvents(deps);
  const batching = { quarantine, batchWindowMs: BATCH_WINDOW_MS };
  const ofIdentity = { accountClosed: accountClosed(deps), accountErased: accountErased(deps) };
  return [
    subscribeInBatches(bus, quote, onQuote, record, batching),
    subscribeInBatches(bus, settlement, onSettlement, record, batching),
    subscribeInBatches(bus, funding, onFunding, record, batching),
    subscribeInBatches(bus, identity, onIdentity, record, batching),
    subscribe(bus, identity, ofIdentity, quarantine),
  ];
};

/** Starts the webhook service. It calls no other service. */
export const createService = (base: ServiceBase, config: Config): Service => {
  const { bus, pool, clock, logger } = base;
  const deps = createDeps(base, config);
  const consuming = consume(base, deps);
  const handlers = {
    ...operations(deps),
    listLateEndpoints: listLateEndpoints(deps),
    listSentEvents: listSentEvents(pool),
    ...operatorHandlers({ pool, consuming, findRecords: findEventRecords(pool) }),
  };
  return {
    serving: serve(bus, webhook, handlers, { now: clock.now, calls: idempotentCalls(pool) }),
    consuming,
    jobs: [
      deps.deliveries,
      everyMs(PURGE_EVERY_MS, 'purge', purge(deps), logger),
      everyMs(RESEAL_EVERY_MS, 'resealSecrets', resealSecrets(deps), logger),
      startPurgeCalls({ pool, logger }),
    ],
    gauges: [deliveryGauges(pool)],
  };
};
