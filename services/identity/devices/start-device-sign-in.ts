import { DEVICE_INTERVAL_SECONDS, DEVICE_MINUTES } from '../../../shared/contract/identity/devices.ts';
import type { identity } from '../../../shared/contract/identity.ts';
import type { Environment } from '../../../shared/contract/primitives.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import type { Pool } from '../../../shared/db/pool.ts';
import { clientOfCall } from '../../../shared/lib/call-client.ts';
import { tokenHash } from '../sessions/model/tokens.ts';
import { newDeviceCode, newUserCode } from './codes.ts';
import { insertDeviceSignIn } from './store/device_sign_ins.ts';

/** Two of 25 billion codes are hardly ever equal. A third failure is an error of the program. */
const TRIES = 3;

/** POST /v1/auth/device. The short code is in no log, because it can be confirmed by anybody. */
export const startDeviceSignIn =
  (deps: {
    pool: Pool;
    environment: Environment;
    /** The console, where a person enters the short code. */
    consoleUrl: string;
  }): Handler<typeof identity.operations.startDeviceSignIn> =>
  async ({ client_name }) => {
    const deviceUrl = `${deps.consoleUrl}/device`;
    const device_code = newDeviceCode(deps.environment);
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      const user_code = newUserCode();
      const row = { device_hash: tokenHash(device_code), user_code, client_name, client: clientOfCall() };
      if (!(await insertDeviceSignIn(deps.pool, row))) continue;
      const query = new URLSearchParams({ code: user_code, environment: deps.environment });
      return {
        device_code,
        user_code,
        verification_uri: deviceUrl,
        verification_uri_complete: `${deviceUrl}?${query}`,
        expires_in: DEVICE_MINUTES * 60,
        interval: DEVICE_INTERVAL_SECONDS,
      };
    }
    throw new Error('no free user code was found');
  };
