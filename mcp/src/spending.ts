import { displayUsdc } from '../../sdk/src/generated/usdc.ts';
import type { Output } from '../../sdk/src/types.ts';
import { type Settings, SettingsError } from './settings.ts';

/**
 * The day's maximum of this server. What was paid today is read from the API for each payment, so
 * it holds after a restart, and counts what other programs have paid with the same key.
 */

type Delegate = Output<'identity.getOwnDelegate'>;

/** The payment is above a maximum that the settings of this server name. Nothing was paid. */
export class AboveSettingError extends Error {
  override readonly name = 'AboveSettingError';
  readonly setting: 'QUITTANCE_MAX_AMOUNT' | 'QUITTANCE_MAX_PER_DAY' | 'QUITTANCE_MAX_WINDOW';
  constructor(setting: AboveSettingError['setting'], message: string) {
    super(`${message} Only the person who runs this server can raise ${setting}.`);
    this.setting = setting;
  }
}

/** @throws SettingsError if the key has no limit, and the settings do not allow that */
const refuseUnlimited = ({ limits }: Delegate, allowsUnlimited: boolean): void => {
  if (allowsUnlimited || Object.values(limits).some((each) => each !== null)) return;
  throw new SettingsError(
    'DELEGATE_KEY has no limit at all. Its owner can set one (console, Pay, Delegates). QUITTANCE_ALLOW_UNLIMITED=1 allows a key without one.',
  );
};

export const createSpending = (
  { maxPerDayMicro, allowsUnlimited }: Pick<Settings, 'maxPerDayMicro' | 'allowsUnlimited'>,
  readDelegate: (options?: { signal: AbortSignal }) => Promise<Delegate>,
) => {
  /** Payments of calls that have not ended. The API may not count them yet. */
  const underWay = new Map<symbol, bigint>();

  return {
    /** @throws SettingsError if the key has no limit */
    checkKey: async (signal: AbortSignal): Promise<void> =>
      refuseUnlimited(await readDelegate({ signal }), allowsUnlimited),
    /**
     * Counts a payment, until its call ends.
     * @throws AboveSettingError if the day's maximum does not allow it
     */
    reserve: async (call: symbol, amount: string): Promise<void> => {
      underWay.set(call, BigInt(amount));
      // Before the read: it may not count a payment of a call that ends meanwhile.
      const atOnce = [...underWay.values()].reduce((micro, each) => micro + each, 0n);
      const delegate = await readDelegate();
      refuseUnlimited(delegate, allowsUnlimited);
      const { spent, held } = delegate.usage.daily;
      if (BigInt(spent) + BigInt(held) + atOnce <= maxPerDayMicro) return;
      underWay.delete(call);
      throw new AboveSettingError(
        'QUITTANCE_MAX_PER_DAY',
        `A payment of ${displayUsdc(amount)} would make more than ${displayUsdc(maxPerDayMicro)} today, with what this key has paid and holds.`,
      );
    },
    release: (call: symbol): void => {
      underWay.delete(call);
    },
  };
};
export type Spending = ReturnType<typeof createSpending>;
