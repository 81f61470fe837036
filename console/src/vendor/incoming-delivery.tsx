import { useState } from 'react';
import { useAction } from '../lib/data.ts';
import { Button, ConfirmDialog, Notice, toast } from '../ui/index.ts';

/** What an issued payment of x402 or MPP is waiting for. */
export const UndeliveredNotice = ({
  isShut,
}: {
  /** The whole net amount is refunded or reserved for a refund. */
  isShut: boolean;
}) => (
  <Notice tone="wait" title="Paid, not delivered">
    {isShut
      ? 'It cannot be delivered while its whole amount is refunded or reserved for a refund.'
      : 'The customer has paid, and no delivery is recorded. The customer’s client can repeat its request with the same payment. The payment does not expire. You can also refund it.'}
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
      done: () => toast('The next request with this payment gets the success again.'),
    },
  );
  return (
    <>
      <Button size="small" onPress={() => setAsking(true)}>
        Hand out again
      </Button>
      <ConfirmDialog
        title="Hand out the success again?"
        confirm="Hand out again"
        doing="Handing it out…"
        danger={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => reissue.runOrThrow(undefined)}
      >
        The success of an x402 payment is handed out once. Do this only if your server got it and did not
        deliver. The next request with the same payment is answered as paid, and your server delivers. The
        customer pays nothing more.
      </ConfirmDialog>
    </>
  );
};
