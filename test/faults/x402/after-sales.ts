import { type Api, balancedApi, patientApi } from '../../../deploy/local/seed/api.ts';
import { createRefund, submitRefund } from '../../../deploy/local/seed/transfers.ts';
import type { Harness } from '../harness.ts';
import type { Payment, Success } from './log.ts';

/** So many refunds of the whole amount are made at once, and so often a success is reissued. */
const TIMES = 2;

/**
 * The vendor says that a success was not delivered, and settles the payment once more. It repeats
 * that, as after a lost answer: a third success is not available by the id of the first.
 */
const reissue = async (api: Api, payment: Payment, { settlementId, handOutId }: Success): Promise<void> => {
  const { offer, purchase, reissued } = payment;
  reissued.add(handOutId);
  for (let times = 0; times < TIMES; times += 1) {
    await api(`POST /v1/settlements/${settlementId}/reissue`, {
      token: offer.service.apiKey,
      body: { redeem_id: handOutId },
    });
    await purchase.vendor.settle(payment);
  }
};

/** Refunds of the whole amount, all at once. One of them is possible. */
const refund = async (api: Api, payment: Payment, { settlementId }: Success): Promise<void> => {
  const { offer, purchase } = payment;
  const { apiKey } = offer.service;
  payment.refundAskedAt ??= Date.now();
  const { payTo } = offer.requirements;
  const payout = purchase.vendor.payouts.find(({ publicKey }) => publicKey.toBase58() === payTo)!;
  const created = await Promise.all(
    Array.from({ length: TIMES }, () => createRefund(api, apiKey, settlementId)),
  );
  const prepared = created.filter(({ body }) => body.transaction !== undefined);
  await Promise.all(prepared.map(({ body }) => submitRefund(api, { apiKey, payout }, body)));
};

/** What a vendor does some time after a delivery. A call that a fault has stopped is given up. */
export const afterSalesOf = ({ stack }: Harness) => {
  const api = patientApi(balancedApi(stack.gateway_urls));
  const givenUp =
    (act: typeof refund) =>
    (payment: Payment, success: Success): Promise<void> =>
      act(api, payment, success).catch(() => {});
  return { reissue: givenUp(reissue), refund: givenUp(refund) };
};
export type AfterSales = ReturnType<typeof afterSalesOf>;
