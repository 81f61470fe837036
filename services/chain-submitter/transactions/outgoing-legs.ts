import type { OutgoingSplit } from '../../../shared/contract/chain-submitter.ts';
import { parseMicro } from '../../../shared/lib/money/micro.ts';
import { restOf } from '../../../shared/lib/money/payees.ts';

type Paid = {
  pay_to: string;
  amount: string;
  memo: string | null;
  splits?: readonly OutgoingSplit[] | undefined;
};

/**
 * What an outgoing payment pays to whom, in the order of its transaction: its amount without the
 * splits to the payee, and then the splits.
 * @throws RangeError if the splits leave the payee nothing, which settlement refuses
 */
export const outgoingLegs = ({ pay_to, amount, memo, splits = [] }: Paid) => {
  const others = splits.map((split) => ({
    payTo: split.pay_to,
    amountMicro: parseMicro(split.amount),
    memo: split.memo,
  }));
  const net = restOf({ amount, splits });
  if (net <= 0n) throw new RangeError('The splits of an outgoing payment leave its payee nothing.');
  return [{ payTo: pay_to, amountMicro: net, memo }, ...others];
};
