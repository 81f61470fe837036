import type { identity } from '../../../shared/contract/identity.ts';
import type { Handler } from '../../../shared/contract/service.ts';
import { type FeeRule, feeMicro, netMicro } from '../../../shared/lib/money/fee.ts';
import { formatMicro, parseMicro } from '../../../shared/lib/money/micro.ts';

/** GET /v1/services/fee: what a price leaves to the vendor, before a service has it. */
export const showFee =
  ({ fee }: { fee: FeeRule }): Handler<typeof identity.operations.showFee> =>
  async ({ price }) => {
    const priceMicro = parseMicro(price);
    return {
      price,
      fee_amount: formatMicro(feeMicro(priceMicro, fee)),
      net_amount: formatMicro(netMicro(priceMicro, fee)),
      lowest_price: formatMicro(fee.minMicro + 1n),
    };
  };
