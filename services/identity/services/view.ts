import type { z } from 'zod';
import type { identity } from '../../../shared/contract/identity.ts';
import { isoTime, isoTimeOrNull } from '../../../shared/lib/clock.ts';
import { displayDomain } from '../../../shared/lib/domain.ts';
import { type FeeRule, feeMicro, netMicro } from '../../../shared/lib/money/fee.ts';
import { formatMicro } from '../../../shared/lib/money/micro.ts';
import { domainRecord } from '../domains/proof.ts';
import type { ServiceRow } from './store.ts';

type Terms = Omit<NonNullable<z.infer<typeof identity.internal.findService.output>>, 'account_id'>;

const showDomain = (row: ServiceRow): Terms['domain'] => {
  const { domain, domain_verified_at: verifiedAt } = row;
  if (domain === null) return null;
  return {
    name: domain,
    display_name: displayDomain(domain),
    status: verifiedAt === null ? 'unproven' : 'verified',
    record: domainRecord({ ...row, domain }),
    problem: row.domain_problem,
    verified_at: isoTimeOrNull(verifiedAt),
    checked_at: isoTimeOrNull(row.domain_checked_at),
  };
};

/** A service as other services read it. */
export const showTerms = (row: ServiceRow): Terms => ({
  service_id: row.service_id,
  name: row.name,
  price: formatMicro(row.price),
  payout_address: row.payout_address,
  next_payout:
    row.next_payout_address === null
      ? null
      : { payout_address: row.next_payout_address, effective_at: isoTime(row.next_payout_at!) },
  key_grace_hours: row.key_grace_hours,
  redeem_window_seconds: row.redeem_window_seconds,
  domain: showDomain(row),
  status: row.status,
  created_at: isoTime(row.created_at),
});

/** A service as its owner reads it, with what its price yields. */
export const showService = (
  row: ServiceRow,
  fee: FeeRule,
): z.infer<typeof identity.operations.getService.output> => ({
  ...showTerms(row),
  allowed_ips: row.allowed_ips,
  fee_amount: formatMicro(feeMicro(row.price, fee)),
  net_amount: formatMicro(netMicro(row.price, fee)),
});
