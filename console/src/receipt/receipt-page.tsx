import { useEffect, useState } from 'react';
import { useFragment } from '../lib/fragment.ts';
import { SignedReceipt } from './signed-receipt.tsx';
import { type Outcome, outcomeOf } from './verify.ts';

/** What is known of the receipt in the address. Null while it is verified. */
const useOutcome = (receipt: string): Outcome | null => {
  const [known, setKnown] = useState<{ of: string; outcome: Outcome } | null>(null);
  useEffect(() => {
    let isShown = true;
    setKnown(null);
    if (receipt !== '')
      void outcomeOf(receipt).then((outcome) => {
        // A link that was opened meanwhile has its own result.
        if (isShown) setKnown({ of: receipt, outcome });
      });
    return () => {
      isShown = false;
    };
  }, [receipt]);
  return known?.of === receipt ? known.outcome : null;
};

const STATES = {
  valid: 'Signature valid',
  bad: 'Not valid: do not trust this receipt',
  unverified: 'Not verified',
};

const stateOf = (receipt: string, outcome: Outcome | null): string =>
  receipt === '' ? 'No receipt' : outcome === null ? 'Verifying the signature …' : STATES[outcome.is];

const reasonOf = (receipt: string, outcome: Outcome | null): string => {
  if (receipt === '') return 'Open the whole link of the receipt, with the part after #.';
  return outcome === null || outcome.is === 'valid' ? '' : outcome.why;
};

/** Verifies the receipt in the fragment of the page's address, and shows it. */
export const ReceiptPage = () => {
  const receipt = useFragment();
  const outcome = useOutcome(receipt);
  const tone = outcome === null ? undefined : outcome.is === 'valid' ? 'good' : 'bad';
  return (
    <>
      <div className="notice" data-tone={tone} role="status">
        <strong id="state">{stateOf(receipt, outcome)}</strong>
        <div>{reasonOf(receipt, outcome)}</div>
      </div>
      {outcome?.is === 'valid' && <SignedReceipt claims={outcome.claims} kid={outcome.kid} />}
    </>
  );
};
