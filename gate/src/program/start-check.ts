import { ApiError, createClient, NoAnswerError } from '../../../sdk/src/main.ts';
import { ConfigurationError, checkVendor, isMetered } from '../../../sdk/src/paywall/adapter.ts';
import { SettingsError } from '../ground/yaml-file.ts';
import type { Settings } from '../settings/settings.ts';
import type { GateLog } from '../telemetry/call-log.ts';

/** A gate starts while the API is away for a moment. So it does not wait long for its answer. */
const ASK_MS = 5000;

/** Prices that do not depend on the request. */
const pricesOf = ({ routes }: Settings): string[] =>
  routes.flatMap(({ paid }) => {
    const price = paid === null ? null : isMetered(paid) ? paid.max : paid.price;
    return typeof price === 'string' ? [price] : [];
  });

/** The options of the SDK as the settings of the gate. */
const inSettings = (message: string): string =>
  message
    .replace(/^serviceKey\b/, 'SERVICE_KEY')
    .replace(/^serviceId\b/, 'service_id (SERVICE_ID)')
    .replace(/^publicUrl\b/, 'public_url (PUBLIC_URL)');

/**
 * Asks the API once whether key, service and prices are right, so that a mistake ends the start and
 * not the calls of buyers. Without an answer the gate starts: its calls ask again.
 * @throws SettingsError for an answer that only other settings change
 */
export const checkStart = async (settings: Settings, log: GateLog): Promise<void> => {
  const { baseUrl, serviceKey, serviceId, publicUrl } = settings.paywall;
  const client = createClient({ baseUrl, credential: serviceKey, maxRetries: 0 });
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    await checkVendor({ client, serviceId, publicUrl, prices: pricesOf(settings), signal });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new SettingsError(inSettings(error.message));
    const isAway =
      error instanceof NoAnswerError || error instanceof ApiError || (error as Error).name === 'TimeoutError';
    if (!isAway) throw error;
    log.warn(
      { error: (error as Error).message },
      'the payment API does not answer now, so the settings are not checked',
    );
  }
};
