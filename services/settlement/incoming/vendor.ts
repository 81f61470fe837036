import { notFound } from '../../../shared/contract/errors.ts';
import type { PrincipalOf } from '../../../shared/contract/principal.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import type { Peers } from '../peers.ts';

/** The vendor of a payment: the service of the key that calls. */
export type Vendor = {
  accountId: string;
  serviceId: string;
  serviceName: string;
  payoutAddress: string;
  /** A service that closes and a frozen account get no new payments. */
  closing: boolean;
  frozen: boolean;
};

/**
 * The service of a key. One that closes is answered about the payments that it has.
 * @throws ServiceError not_found for a service that was deleted
 */
export const getVendor = async (
  { findService }: Pick<Peers, 'findService'>,
  { account_id, service_id, frozen }: PrincipalOf<readonly ['service_key']>,
): Promise<Vendor> => {
  const service = await findService(service_id);
  if (service === null || service.account_id !== account_id) throw notFound('service');
  return {
    accountId: account_id,
    serviceId: service_id,
    serviceName: service.name,
    payoutAddress: service.payout_address,
    closing: service.status !== 'active',
    frozen: frozen === true,
  };
};

export type PayoutDeps = { logger: Pick<Logger, 'warn'> } & Pick<Peers, 'createPayoutAccount'>;

/**
 * Prepares the payout address for payments, in the background. A vendor reads the terms before its
 * first sale, so its token account exists by then. A service that closes gets no more payments.
 */
export const preparePayout = (
  { createPayoutAccount, logger }: PayoutDeps,
  { accountId, payoutAddress, closing }: Vendor,
): void => {
  if (closing) return;
  createPayoutAccount({ account_id: accountId, owner: payoutAddress }).catch((error: unknown) =>
    logger.warn(
      { err: error, payout_address: payoutAddress },
      'token account of a payout address not created',
    ),
  );
};
