import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import type { Output } from '../../../sdk/src/types.ts';

type Paid = Partial<Pick<Output<'settlement.getApproval'>, 'payees'>> & {
  service_id: string | null;
  service_name: string;
};

/**
 * Whom a payment pays: a service by its name. The name of another vendor is the host that asked, so
 * every address that gets money stands beside it, with its part if there are several.
 */
export const paidTo = ({ service_id, service_name, payees = [] }: Paid): string => {
  if (service_id !== null) return service_name;
  const [only, ...others] = payees;
  const shown =
    others.length === 0
      ? only?.address
      : payees.map(({ address, amount }) => `${address} ${displayUsdc(amount)}`).join(', ');
  return shown === undefined ? service_name : `${service_name} (${shown})`;
};
