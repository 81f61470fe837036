import type { ReactNode } from 'react';
import type { ReceiptClaims } from '../../../sdk/src/checks/receipt.ts';
import { explorerUrl } from '../lib/explorer.ts';
import { Button } from '../ui/button.tsx';
import { Properties, Section } from '../ui/layout.tsx';
import { Notice } from '../ui/notice.tsx';
import { Badge, Copyable, Money, Time } from '../ui/show.tsx';

/** The chain of a gateway on this machine has the name of a public network and is not in it. */
const LOCAL = /^https?:\/\/(localhost|127\.\d+\.\d+\.\d+|\[::1\])([:/]|$)/;

/** A transaction, with a link if a public explorer knows the network. */
const Transaction = ({
  signature,
  claims: { network, iss },
}: {
  signature: string;
  claims: ReceiptClaims;
}) => {
  const url = LOCAL.test(iss) ? null : explorerUrl(network, signature);
  return (
    <>
      <Copyable text={signature} label="the transaction’s hash" block />
      {url !== null && (
        <a href={url} target="_blank" rel="noopener noreferrer">
          Explorer
        </a>
      )}
    </>
  );
};

const CHAIN: Record<string, string> = {
  confirmed: 'Confirmed, not final yet',
  finalized: 'Final',
  failed: 'Reversed',
};

const Amounts = ({ claims: { amount, rail, refunded, vendor, env, item } }: { claims: ReceiptClaims }) => {
  const left = BigInt(amount.net) - BigInt(refunded);
  const isRefunded = refunded !== '0';
  return (
    <Section
      title={`Paid to ${vendor.service_name}`}
      actions={env === 'test' && <Badge state="TEST: no real money" tone="wait" />}
    >
      <Properties
        of={[
          ['For', item != null && <span className="long">{item}</span>],
          ['Paid', <Money key="paid" micro={amount.gross} large />],
          // The fee of an x402 payment is billed to its vendor.
          [
            'Fee',
            rail === 'x402' ? 'billed to the vendor separately' : <Money key="fee" micro={amount.fee} />,
          ],
          [
            vendor.payees.length === 1 ? 'Received by the vendor' : 'Received together',
            <Money key="net" micro={amount.net} />,
          ],
          ['Refunded', isRefunded && <Money key="refunded" micro={refunded} />],
          ['Left with the vendor', isRefunded && <Money key="left" micro={left < 0n ? 0n : left} />],
        ]}
      />
    </Section>
  );
};

const Refunds = ({ claims }: { claims: ReceiptClaims }) => {
  const { refunds, refund_count } = claims;
  if (refunds.length === 0) return null;
  const more = refund_count - refunds.length;
  return (
    <Section title="Refunds">
      <ul className="plain">
        {refunds.map(({ amount, created_at, signature }) => (
          <li key={signature}>
            <Money micro={amount} />, requested <Time at={created_at} seconds />
            <Transaction signature={signature} claims={claims} />
          </li>
        ))}
        {more > 0 && <li>and {more} more</li>}
      </ul>
    </Section>
  );
};

const code = (text: string): ReactNode => <code className="long">{text}</code>;

/** Everybody who was paid. Of several, each with its part. */
const Payees = ({ of }: { of: ReceiptClaims['vendor']['payees'] }) =>
  of.map(({ address, amount }) => (
    <div key={address}>
      {code(address)} {of.length > 1 && <Money micro={amount} />}
    </div>
  ));

const Payment = ({ claims }: { claims: ReceiptClaims }) => {
  const { chain_status, confirmed_at, redeemed_at, transaction, vendor, quote } = claims;
  return (
    <Section title="Payment">
      <Properties
        of={[
          ['Confirmed', <Time key="confirmed" at={confirmed_at} seconds />],
          ['On the chain', CHAIN[chain_status] ?? chain_status],
          ['Delivered', redeemed_at !== null && <Time key="redeemed" at={redeemed_at} seconds />],
          [
            'Transaction',
            <Transaction key="transaction" signature={transaction.signature} claims={claims} />,
          ],
          ['From', code(claims.payer_address)],
          ['To', <Payees key="to" of={vendor.payees} />],
          ['Settlement', code(claims.settlement_id)],
          ['Quote', quote !== null && code(quote.quote_id)],
          ['Network', code(claims.network)],
        ]}
      />
    </Section>
  );
};

/** A receipt whose signature is valid. */
export const SignedReceipt = ({ claims, kid }: { claims: ReceiptClaims; kid: string }) => (
  <article id="receipt" className="stack">
    {claims.chain_status === 'failed' && (
      <Notice tone="bad" title="Reversed: the chain removed this payment after it was confirmed.">
        The vendor does not have the money.
      </Notice>
    )}
    <Amounts claims={claims} />
    <Refunds claims={claims} />
    <Payment claims={claims} />
    <Section
      title="Signature"
      about="States what was known when it was signed. Get it again to include later refunds."
    >
      <Properties
        of={[
          ['Signed', <Time key="signed" at={new Date(claims.iat * 1000).toISOString()} seconds />],
          ['By', code(claims.iss)],
          ['Key', code(kid)],
        ]}
      />
    </Section>
    <div className="row">
      <Button onPress={() => window.print()}>Print</Button>
    </div>
  </article>
);
