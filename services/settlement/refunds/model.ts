import { type ChainStatus, isPaid, type Status } from '../record/model/status.ts';

type Refundable = { status: Status; chain: ChainStatus; netMicro: bigint; reservedMicro: bigint };

const REFUSED: Partial<Record<Status, string>> = {
  pending: 'the payment is not confirmed yet',
  authorized: 'nothing is captured yet, so there is nothing to refund; void it instead',
  capturing: 'the capture is not confirmed yet',
  voided: 'the authorization was voided, so there is nothing to refund',
  failed: 'the payment failed, so there is nothing to refund',
};

/**
 * The amount that a refund can reserve (docs/spec/decisions.md, Funding): part of the net, since
 * the fee is not returned, and at most what other refunds have left.
 * @param wantedMicro null: everything that is left
 * @returns the amount, or the reason why there is none
 */
export const refundOf = (
  { status, chain, netMicro, reservedMicro }: Refundable,
  wantedMicro: bigint | null,
): { amountMicro: bigint } | { refused: string } => {
  const refused = REFUSED[status];
  if (refused !== undefined) return { refused };
  if (chain === 'failed') return { refused: 'the payment was reversed on chain' };
  if (!isPaid(chain)) return { refused: 'the payment is being confirmed again after a fork of the chain' };
  const left = netMicro - reservedMicro;
  if (left <= 0n) return { refused: 'the whole net amount is refunded already, or being refunded' };
  if (wantedMicro !== null && wantedMicro > left)
    return { refused: `at most ${left} micro-units of the net amount are left to refund` };
  return { amountMicro: wantedMicro ?? left };
};
