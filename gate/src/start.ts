import type { PaywallEvent } from '../../sdk/src/vendor/log.ts';
import { createPaywall } from '../../sdk/src/vendor/main.ts';
import { mpp } from '../../sdk/src/vendor/mpp.ts';
import { checkRoute } from '../../sdk/src/vendor/route.ts';
import { x402 } from '../../sdk/src/vendor/x402.ts';
import type { Decider } from './authorize.ts';
import type { Gate } from './gate.ts';
import { createMetrics } from './metrics.ts';
import { SettingsError } from './read-file.ts';
import { createRouter, routeOf } from './routes.ts';
import { createListener, type GateLog, startOperations } from './server.ts';
import type { Settings } from './settings.ts';
import { type GateStore, openStore } from './stores.ts';
import { createUpstream, type Upstream } from './upstream.ts';

/** Errors of calls and of the configuration. What became of a call is in its own line. */
const logEvents =
  (log: GateLog) =>
  ({ event, ...fields }: PaywallEvent): void => {
    if (event === 'error') log.error(fields, 'the paywall reports an error');
    else if (event === 'refused' && fields.reason === 'vendor_configuration')
      log.error(fields, 'the settings are wrong, and buyers cannot pay');
  };

/**
 * What decides about requests, of settings.
 * @throws SettingsError
 */
const gateOf = (
  settings: Settings,
  { store }: GateStore,
  upstream: Upstream | null,
  log: GateLog,
): Gate | Decider => {
  try {
    const secret = settings.offerSecret!;
    const factories = { x402: () => x402({ secret }), mpp: () => mpp({ secret }) };
    const paywall = createPaywall({
      ...settings.paywall,
      store,
      maxStoredBytes: settings.storedBytes,
      dialects: settings.dialects.map((name) => factories[name]()),
      log: logEvents(log),
    });
    const routes = settings.routes.map(routeOf);
    for (const { paid } of routes) if (paid !== null) checkRoute(paywall, paid);
    const gate = { settings, router: createRouter(routes), paywall };
    return upstream === null ? { ...gate, store } : { ...gate, upstream };
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
};

/**
 * Starts a gate.
 * @throws SettingsError; errors of the store and of the listeners
 */
export const startGate = async (settings: Settings, log: GateLog) => {
  const store = await openStore(settings.storeUrl, (error) =>
    log.error({ error: (error as Error).message }, 'the store reports an error'),
  );
  if (settings.storeUrl === null)
    log.warn({}, 'STORE_URL is not set: a restart forgets failed deliveries, and there can be one gate only');
  const metrics = createMetrics();
  const upstreamOf = (wanted: Settings) =>
    wanted.upstream === null ? null : createUpstream(wanted.upstream, wanted.timeouts);
  const present = () => ('upstream' in gate ? gate.upstream : null);
  let gate = gateOf(settings, store, upstreamOf(settings), log);
  const listener = createListener(() => gate, { log, metrics });
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
      gate = gateOf(wanted, store, isSame ? present() : upstreamOf(wanted), log);
    },
    reloaded: metrics.reloaded,
    stop: async (): Promise<void> => {
      await listener.drain(gate.settings.timeouts.drainMs);
      await operations.stop();
      present()?.close();
      await store.close();
    },
  };
};
