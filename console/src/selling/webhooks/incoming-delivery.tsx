import { useState } from 'react';
import { useAction } from '../../api/data.ts';
import { Button, ConfirmDialog, Notice, toast } from '../../ui/index.ts';

/** What an issued payment of x402 or MPP is waiting for. */
export const UndeliveredNotice = ({
  isShut,
}: {
  /** The whole net amount is refunded or reserved for a refund. */
  isShut: boolean;
}) => (
  <Notice tone="wait" title="Paid, not delivered">
    {isShut
      ? 'The whole amount is refunded or reserved for a refund, so it cannot be delivered.'
      : 'The buyer paid, but no delivery is recorded. The buyer can retry with the same payment, which does not expire, or you can refund it.'}
  </Notice>
);

/** Lets the success of a redeemed x402 payment be handed out once more. */
export const HandOutAgain = ({
  settlementId,
  redeemId,
}: {
  settlementId: string;
  /** The success that was not delivered. */
  redeemId: string;
}) => {
  const [isAsking, setAsking] = useState(false);
  const reissue = useAction(
    (client, _: undefined) =>
      client.settlement.reissueForeign({ settlement_id: settlementId, redeem_id: redeemId }),
    {
      changes: [['settlement', settlementId], ['sales']],
      done: () => toast('The next request with this payment succeeds.'),
    },
  );
  return (
    <>
      <Button size="small" onPress={() => setAsking(true)}>
        Allow another delivery
      </Button>
      <ConfirmDialog
        title="Allow another delivery?"
        confirm="Allow another delivery"
        doing="Allowing…"
        danger={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => reissue.runOrThrow(undefined)}
      >
        An x402 payment succeeds once. Do this only if your server did not deliver. The next request with the
        same payment succeeds again; the buyer pays nothing more.
      </ConfirmDialog>
    </>
  );
};
