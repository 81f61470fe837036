import type { z } from 'zod';
import { call } from '../../shared/bus/call.ts';
import type { Bus } from '../../shared/bus/connect.ts';
import { chainSubmitter, identity, settlement } from '../../shared/contract/index.ts';
import { cached } from '../../shared/lib/cached.ts';
import { isoTime } from '../../shared/lib/clock.ts';

export type Service = NonNullable<z.infer<(typeof identity.internal.findService)['output']>>;
export type Reservation = z.infer<(typeof chainSubmitter.internal.reserveTokenAccount)['output']>;

/** The calls to other services. */
export type Peers = {
  findService: (serviceId: string) => Promise<Service | null>;
  /** @param until when nothing is signed for the quote any more, in epoch milliseconds */
  reserveTokenAccount: (accountId: string, owner: string, until: number) => Promise<Reservation>;
  /** Creates the token account that was reserved. */
  createPayoutAccount: (account: { account_id: string; owner: string }) => Promise<unknown>;
  payLinkByPhone: (
    payment: z.infer<(typeof settlement.internal.payLinkByPhone)['input']>,
  ) => Promise<{ transaction: string }>;
  redeemLinkPayment: (
    payment: z.infer<(typeof settlement.internal.redeemLinkPayment)['input']>,
  ) => Promise<{ done: boolean }>;
  /** Reads the settlements of quotes from the settlement service. */
  listByQuotes: (
    quotes: readonly { quote_id: string; settlement_id: string | null }[],
  ) => Promise<z.infer<(typeof settlement.internal.listByQuotes)['output']>>;
};

const RESERVATION_STEP_MS = 300_000;
/** A payment may wait some seconds for others of its account. The gateway waits longer. */
const PHONE_TIMEOUT_MS = 15_000;

export const createPeers = (bus: Bus): Peers => {
  // A changed price or payout address takes effect within this time ("at once" is 2 s in
  // docs/spec/decisions.md).
  const findService = cached((service_id: string) => call(bus, identity, 'findService', { service_id }), {
    maxAgeMs: 1000,
  });
  // This is how soon a closed token account is noticed, also one that was granted and created in
  // the meantime, because a grant is never revoked. A refusal is not cached.
  const reserve = cached(
    (account: { account_id: string; owner: string; until: string }) =>
      call(bus, chainSubmitter, 'reserveTokenAccount', account),
    {
      keyOf: ({ account_id, owner, until }) => `${account_id}/${owner}/${until}`,
      maxAgeMs: 15_000,
      isCacheable: ({ status }) => status !== 'refused',
    },
  );
  return {
    findService,
    // Up to five minutes later than necessary, so that many quotes of one lifetime share a call.
    reserveTokenAccount: (account_id, owner, until) => {
      const latest = Math.ceil(until / RESERVATION_STEP_MS) * RESERVATION_STEP_MS;
      return reserve({ account_id, owner, until: isoTime(latest) });
    },
    createPayoutAccount: (account) => call(bus, chainSubmitter, 'createPayoutAccount', account),
    payLinkByPhone: (payment) =>
      call(bus, settlement, 'payLinkByPhone', payment, { timeoutMs: PHONE_TIMEOUT_MS }),
    redeemLinkPayment: (payment) => call(bus, settlement, 'redeemLinkPayment', payment),
    listByQuotes: (quotes) => call(bus, settlement, 'listByQuotes', { quotes: [...quotes] }),
  };
};
