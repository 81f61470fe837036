import { SettlementId } from '../../shared/contract/primitives.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Command, Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

const HEAD = ['settlement', 'since', 'account', 'attempt', 'wallet', 'amount', 'pays'];
type Unsigned = {
  settlement_id: string;
  created_at: string;
  account_id: string;
  payment_attempt_id: string;
  owner: string;
  amount: string;
  payees: readonly { address: string; amount: string }[];
};
const toRow = (one: Unsigned): string[] => [
  one.settlement_id,
  one.created_at,
  one.account_id,
  one.payment_attempt_id,
  one.owner,
  displayUsdc(BigInt(one.amount)),
  one.payees.map(({ address, amount }) => `${address} ${displayUsdc(BigInt(amount))}`).join(', '),
];

const planEnd = async (operator: Operator, argument: string | undefined): Promise<Plan> => {
  const id = SettlementId.safeParse(argument);
  if (!id.success) throw new Refusal(`${argument} is not a settlement id (stl_…)`);
  const settlement_id = id.data;
  const payment = await operator.call(settlement, 'getUnsignedPayment', { settlement_id });
  return {
    table: [
      [...HEAD, 'then'],
      [...toRow(payment), 'failed'],
    ],
    notes: [
      payment.transactions.length === 0
        ? 'The chain has no payment that may be this one.'
        : 'The chain has payments that may be this one. Compare them with the payer first:',
      ...payment.transactions.map((transaction) => `  ${transaction}`),
      'Nothing is signed for it afterwards, its amount is released, and its payer is told that no money moved.',
    ],
    make: async (attribution) => {
      const json = await operator.call(settlement, 'endUnsignedPayment', { settlement_id, ...attribution });
      const { status, chain_status } = json;
      return {
        json,
        text: tableText([
          ['settlement', 'status', 'on chain'],
          [settlement_id, status, chain_status],
        ]),
      };
    },
  };
};

export const unsignedCommands: readonly Command[] = [
  {
    name: 'payments unsigned',
    args: '',
    summary:
      'Lists outgoing payments without bytes after two minutes, and any that are under way after fifteen',
    details:
      'After a restore, the chain may have a payment of which only the payer knows whether it is this one, or the bytes of one may be lost.',
    show: async (operator, _args, { limit }) => {
      const json = await operator.call(settlement, 'listUnsignedPayments', { limit });
      return { json, text: json.length === 0 ? 'None.' : tableText([HEAD, ...json.map(toRow)]) };
    },
  },
  {
    name: 'payments end',
    args: '<settlement_id>',
    summary: 'Ends an outgoing payment without bytes, or with lost bytes, that the sweep cannot end',
    details: 'Refused if its bytes were handed out and are not lost, and if the chain has its payment.',
    plan: (operator, [argument]) => planEnd(operator, argument),
  },
];
