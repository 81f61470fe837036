import { useState } from 'react';
import { useAction } from '../api/data.ts';
import { Button, ConfirmDialog, Money, toast } from '../ui/index.ts';

/** Ends an open authorization of the account. */
export const CloseAuthorization = ({ settlementId, used }: { settlementId: string; used: string }) => {
  const [isAsking, setAsking] = useState(false);
  const close = useAction(
    (client, _: undefined) => client.settlement.close({ settlement_id: settlementId }),
    { changes: [['payment', settlementId], ['payments']], done: () => toast('The authorization is closed.') },
  );
  return (
    <>
      <Button onPress={() => setAsking(true)}>Close authorization</Button>
      <ConfirmDialog
        title="Close this authorization?"
        confirm="Close authorization"
        doing="Closing…"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        onConfirm={() => close.runOrThrow(undefined)}
      >
        The vendor can use nothing more of it. What it has reported is paid (<Money micro={used} /> by now),
        and the rest is released.
      </ConfirmDialog>
    </>
  );
};
