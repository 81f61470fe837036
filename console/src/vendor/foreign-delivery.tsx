import { useState } from 'react';
import { useAction } from '../lib/data.ts';
import { Button, ConfirmDialog, Notice, Row, toast } from '../ui/index.ts';
import type { Settlement } from './sales-figures.ts';

/** Whether a payment of x402 or MPP was delivered, and what the vendor can do if it was not. */
export const ForeignDelivery = ({
  settlement: { settlement_id, rail, status },
  isShut,
  hasRefunds,
}: {
  settlement: Settlement;
  /** The whole net amount is refunded or reserved for a refund. */
  isShut: boolean;
  /** A part is, or the refunds are unknown. */
  hasRefunds: boolean;
}) => {
  if (status === 'issued')
    return (
      <Notice tone="wait" title="Paid, not delivered">
        {isShut
          ? 'It cannot be delivered while its whole amount is refunded or reserved for a refund.'
          : 'The customer has paid, and your server has not confirmed the delivery. The customer’s client can repeat its request with the same payment. It does not expire. You can also refund it.'}
      </Notice>
    );
  if (rail !== 'x402' || hasRefunds) return null;
  return <HandOutAgain settlementId={settlement_id} />;
};

const HandOutAgain = ({ settlementId }: { settlementId: string }) => {
  const [isAsking, setAsking] = useState(false);
  const reissue = useAction(
    (client, _: undefined) => client.settlement.reissueForeign({ settlement_id: settlementId }),
    {
      changes: [['settlement', settlementId], ['sales']],
      done: () => toast('The next request with this payment gets the success again.'),
    },
  );
  return (
    <Notice title="Your server did not deliver?">
      The success of an x402 payment is handed out once. If your server got it and failed before the delivery,
      hand it out again.
      <Row>
        <Button size="small" onPress={() => setAsking(true)}>
          Hand out again
        </Button>
      </Row>
      <ConfirmDialog
        title="Hand out the success again?"
        confirm="Hand out again"
        doing="Handing it out…"
        danger={false}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => reissue.runOrThrow(undefined)}
      >
        The next request with the same payment is answered as paid, and your server delivers once more. The
        customer pays nothing more. Do this only if nothing was delivered.
      </ConfirmDialog>
    </Notice>
  );
};
