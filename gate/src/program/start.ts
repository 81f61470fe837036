import { checkRoute } from '../../../sdk/src/paywall/adapter.ts';
import { mpp } from '../../../sdk/src/paywall/dialects/mpp.ts';
import { x402 } from '../../../sdk/src/paywall/dialects/x402.ts';
import { createPaywall, type Paywall, type PaywallEvent } from '../../../sdk/src/paywall/main.ts';
import type { Decider } from '../calls/authorize.ts';
import { createFreeCalls } from '../calls/free-calls.ts';
import type { Gate } from '../calls/gate.ts';
import { createUpstream, type Upstream } from '../calls/upstream.ts';
import { createHeldBytes, type HeldBytes } from '../ground/request-body.ts';
import { createRouter, routeOf } from '../ground/routes.ts';
import { type GateStore, openStore } from '../ground/stores.ts';
import { SettingsError } from '../ground/yaml-file.ts';
import type { Settings } from '../settings/settings.ts';
import type { GateLog } from '../telemetry/call-log.ts';
import type { Tracing } from '../telemetry/call-span.ts';
import { createMetrics } from '../telemetry/metrics.ts';
import { NO_TRACING } from '../telemetry/tracing.ts';
import { createListener, startOperations } from './server.ts';

/**
 * Errors of calls and of the configuration, and how authorizations have ended. What became of a
 * call is in its own line.
 */
const logEvents =
  (log: GateLog) =>
  ({ event, ...fields }: PaywallEvent): void => {
    if (event === 'error') log.error(fields, 'the paywall reports an error');
    else if (event === 'captured' || event === 'released')
      log.info({ event, ...fields }, 'an authorization has ended');
    else if (event === 'refused' && fields.reason === 'vendor_configuration')
      log.error(fields, 'the settings are wrong, and buyers cannot pay');
  };

/**
 * The paywall of settings. One is kept as long as they are the same, because it knows the use of
 * tabs that is not reported yet.
 */
const createPaywalls = ({ store }: GateStore, log: GateLog, { fetch }: Tracing) => {
  const made = new Map<string, Paywall>();
  return {
    of: ({ paywall, offerSecret, storedBytes, dialects }: Settings): Paywall => {
      const key = JSON.stringify([paywall, offerSecret, storedBytes, dialects]);
      const secret = offerSecret!;
      const factories = { x402: () => x402({ secret }), mpp: () => mpp({ secret }) };
      const found =
        made.get(key) ??
        createPaywall({
          ...paywall,
          store,
          maxStoredBytes: storedBytes,
          // Without any, people in browsers may pay with their wallets all the same.
          ...(dialects.length > 0 && { dialects: dialects.map((name) => factories[name]()) }),
          log: logEvents(log),
          ...(fetch !== undefined && { fetch }),
        });
      made.set(key, found);
      return found;
    },
    /** Reports the use of tabs. */
    close: async (): Promise<void> => {
      await Promise.all([...made.values()].map((each) => each.close()));
    },
  };
};
type Paywalls = ReturnType<typeof createPaywalls>;

/**
 * What decides about requests, of settings.
 * @throws SettingsError
 */
const gateOf = (
  settings: Settings,
  { store, counters }: GateStore,
  upstream: Upstream | null,
  { paywalls, held, onError }: { paywalls: Paywalls; held: HeldBytes; onError: (error: unknown) => void },
): Gate | Decider => {
  try {
    const paywall = paywalls.of(settings);
    const routes = settings.routes.map(routeOf);
    for (const { paid } of routes) if (paid !== null) checkRoute(paywall, paid);
    const freeCalls = createFreeCalls({
      counters,
      onError,
      secret: settings.paywall.serviceKey,
      proxies: settings.proxies,
    });
    const gate = { settings, router: createRouter(routes, settings.passesUnmatched), paywall, freeCalls };
    return upstream === null ? { ...gate, store } : { ...gate, upstream, held };
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
};

/**
 * Starts a gate.
 * @throws SettingsError; errors of the store and of the listeners
 */
export const startGate = async (settings: Settings, log: GateLog, tracing: Tracing = NO_TRACING) => {
  const onError = (error: unknown): void =>
    log.error({ error: (error as Error).message }, 'the store reports an error');
  const store = await openStore(settings.storeUrl, onError);
  if (settings.storeUrl === null)
    log.warn({}, 'STORE_URL is not set: a restart forgets failed deliveries, and there can be one gate only');
  const metrics = createMetrics();
  // One body fits, however long its beginning is. A reload does not change it.
  const held = createHeldBytes(Math.max(settings.heldBytes, settings.hashBytes));
  const parts = { paywalls: createPaywalls(store, log, tracing), held, onError };
  const upstreamOf = (wanted: Settings) =>
    wanted.upstream === null ? null : createUpstream(wanted.upstream, wanted.timeouts);
  const present = () => ('upstream' in gate ? gate.upstream : null);
  let gate = gateOf(settings, store, upstreamOf(settings), parts);
  const listener = createListener(() => gate, { log, metrics, tracing });
  const port = await listener.start(settings.listen);
  const operations = await startOperations(settings.operations, metrics, async () => ({
    serving: !listener.isDraining(),
    store: await store.isReady(),
    ...(present() !== null && { upstream: await present()!.isAlive() }),
  }));
  return {
    port,
    operationsPort: operations.port,
    /**
     * Replaces the settings for the calls that begin from now on. Addresses and store stay.
     * @throws SettingsError; then nothing changes
     */
    reload: (wanted: Settings): void => {
      const isSame =
        wanted.upstream?.href === gate.settings.upstream?.href &&
        JSON.stringify(wanted.timeouts) === JSON.stringify(gate.settings.timeouts);
      // The connections of the old one serve its open calls, and end when they have been idle.
      gate = gateOf(wanted, store, isSame ? present() : upstreamOf(wanted), parts);
    },
    reloaded: metrics.reloaded,
    stop: async (): Promise<void> => {
      await listener.drain(gate.settings.timeouts.drainMs);
      await parts.paywalls.close();
      await operations.stop();
      present()?.close();
      await store.close();
      await tracing.stop();
    },
  };
};
