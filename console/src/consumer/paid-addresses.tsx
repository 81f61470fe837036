import type { Output } from '../../../sdk/src/main.ts';
import { Copyable, Money } from '../ui/index.ts';
import './paid-addresses.css';

/** Every address that a payment pays. Of several, each with its amount. */
export const PaidAddresses = ({ of }: { of: Output<'settlement.getApproval'>['payees'] }) => (
  <ul className="paid-addresses">
    {of.map(({ address, amount }) => (
      <li key={address}>
        {of.length > 1 && (
          <>
            <Money micro={amount} /> to
          </>
        )}
        <Copyable block text={address} label="the address" />
      </li>
    ))}
  </ul>
);
