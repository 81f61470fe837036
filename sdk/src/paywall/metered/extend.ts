import { MAX_EXTENSIONS } from '../../generated/limits.ts';
import { isRefusal, type Refusal, usedUp } from '../base/answers.ts';
import type { Authorization } from '../base/authorizations.ts';
import type { PresentedPayment } from '../base/dialect.ts';
import type { MeteredBill } from '../base/metered-route.ts';
import type { Tabs } from './tabs.ts';

/** The API counts an authorization in the limits of one day, so it is extended on that day only. */
const isOfToday = (madeAt: number): boolean =>
  new Date(madeAt).toISOString().slice(0, 10) === new Date().toISOString().slice(0, 10);

type Held = NonNullable<PresentedPayment['authorization']>;

/**
 * What becomes of a tab that is used up and can be extended.
 * @returns the refusal, with which an extension is offered; `extended` if the tab has more now;
 *   `not` if it cannot be extended
 */
export const createExtend =
  (tabs: Tabs) =>
  async (
    key: string,
    { read, quoteId, madeAt }: Held,
    found: Authorization,
    { perCall, threshold }: MeteredBill,
  ): Promise<Refusal | 'extended' | 'not'> => {
    const counted = await tabs.counted(key);
    if (counted === null) return 'not';
    const state = await read();
    if (isRefusal(state)) return state;
    const { ceiling } = state;
    found.extendedTo(ceiling);
    if (ceiling > counted.ceiling) {
      await tabs.extend(key, counted.ceiling, ceiling, found);
      return 'extended';
    }
    if (counted.extensions >= MAX_EXTENSIONS || !isOfToday(madeAt)) return 'not';
    // Another replica may have counted an extension before the ceiling was read here.
    const left = await tabs.read(key);
    if (left === null || left < 0n || left >= perCall) return 'extended';
    if (threshold !== null && ceiling - left >= threshold) return 'not';
    const end = (): void => void tabs.end(key, found, 'used_up');
    return { ...usedUp('authorization_used_up'), extendable: { quoteId, ceiling, end } };
  };
