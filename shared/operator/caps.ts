import { z } from 'zod';
import type { getCapsOperation } from '../contract/operator.ts';
import { accountCapMicro, capOfWallet, HOURLY_CAPS, type HourlyLimits } from '../db/hourly-caps.ts';
import { type Db, sql } from '../db/pool.ts';
import { isoTime } from '../lib/clock.ts';

const MOST_SHOWN = 10;
const Used = z.object({
  of: z.enum(HOURLY_CAPS),
  id: z.string(),
  reserved: z.bigint(),
  resets_at: z.number(),
});

/** The wallets and accounts with the highest use in the current hour, and the environment. */
const mostUsed = (db: Db) =>
  db.any(sql.type(Used)`
    select of, id, reserved, resets_at from (
      select split_part(scope, '/', 1) as of, split_part(scope, '/', 2) as id, reserved,
        period + interval '1 hour' as resets_at,
        row_number() over (partition by split_part(scope, '/', 1) order by reserved desc, scope) as place
      from spending where period = date_trunc('hour', app_now(), 'UTC')
    ) as hour
    where of in ('wallet', 'account', 'environment') and place <= ${MOST_SHOWN}
    order by of = 'environment' desc, of, place`);

/** The hourly caps of a service and their use. */
export const reportCaps = async (
  db: Db,
  limits: HourlyLimits,
): Promise<z.infer<typeof getCapsOperation.output>> => {
  const ofAccount = accountCapMicro(limits);
  const capOf = {
    environment: () => limits.environmentMicro,
    account: () => ofAccount,
    wallet: (id: string) => capOfWallet(limits, id),
  };
  const used = await mostUsed(db);
  return {
    environment_cap: `${limits.environmentMicro}`,
    account_cap: `${ofAccount}`,
    wallet_cap: `${limits.walletMicro}`,
    used: used.map(({ of, id, reserved, resets_at }) => ({
      of,
      id: of === 'environment' ? null : id,
      reserved: `${reserved}`,
      cap: `${capOf[of](id)}`,
      resets_at: isoTime(resets_at),
    })),
  };
};
