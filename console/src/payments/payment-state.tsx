import { isPaid } from '../../../sdk/src/payment.ts';
import { Badge } from '../ui/index.ts';
import { type Settlement, type Stage, stageOf } from './sales-figures.ts';
import {
  CHAIN_WORDS,
  PARTLY_REFUNDED,
  REFUND_WORDS,
  REFUNDED,
  STAGE_WORDS,
  type Word,
} from './state-words.ts';

/** A word of the table as a badge. */
export const State = ({ word: [text, tone] }: { word: Word }) => <Badge state={text} tone={tone} />;

/** How certain the chain is: a second, quiet mark. */
export const ChainMark = ({ state }: { state: string }) => {
  const word = CHAIN_WORDS[state];
  return word === undefined ? null : (
    <span
      className="chain-mark"
      title={state === 'finalized' ? 'No fork can undo it' : 'Final in some seconds'}
    >
      {word}
    </span>
  );
};

/** What became of a refund. */
export const RefundWord = ({ status }: { status: string }) => (
  <span className="unbroken">
    <State word={REFUND_WORDS[status] ?? [status, 'none']} /> <ChainMark state={status} />
  </span>
);

/** What became of a payment: its word, and whether it was refunded. */
export const PaymentState = ({
  of: payment,
  stage = stageOf(null, payment, Date.now()),
  refunded = 0n,
}: {
  of: Settlement;
  /** Of the sale, if another attempt for its quote may follow. */
  stage?: Stage;
  refunded?: bigint;
}) => (
  <>
    <State word={STAGE_WORDS[stage]} />
    {refunded > 0n && isPaid(payment) && (
      <>
        {' '}
        <State word={refunded < BigInt(payment.net_amount) ? PARTLY_REFUNDED : REFUNDED} />
      </>
    )}
  </>
);
