import { isPaid } from '../../../sdk/src/payment.ts';
import { useRead } from '../api/data.ts';
import { Button } from '../ui/index.ts';
import { useCopy } from '../ui/show.tsx';
import type { Settlement } from './sales-figures.ts';

/**
 * The signed receipt of a payment, once it is confirmed. It is read again after a refund.
 * @param refunded micro-units, which are part of it
 */
export const useReceipt = (settlement: Settlement, refunded: bigint) => {
  const { settlement_id } = settlement;
  return useRead(
    ['receipt', settlement_id, settlement.chain_status, String(refunded)],
    (client, options) => client.settlement.getReceipt({ settlement_id }, options),
    { enabled: isPaid(settlement) },
  ).data;
};

/** The page's main action: the link of the page that shows the receipt to anyone. */
export const CopyReceiptLink = ({ url }: { url: string }) => {
  const [label, copy] = useCopy(url, 'Copy link to the receipt');
  return (
    <>
      <a className="button" data-variant="plain" href={url} target="_blank" rel="noreferrer">
        Open the receipt
      </a>
      <Button variant="primary" onPress={copy}>
        {label}
      </Button>
    </>
  );
};
