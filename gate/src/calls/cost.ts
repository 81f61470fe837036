import type { IncomingMessage } from 'node:http';
import { type Admission, delivered, FAILED, GONE, isDelivered } from '../../../sdk/src/paywall/adapter.ts';
import { type AnswerPrice, charge, rememberAnswer } from '../ground/metered.ts';
import type { FreeCall } from './free-calls.ts';

/**
 * What a call costs by the way in which its answer has ended. Plain answers, streams, switched
 * connections and free calls have these rules and no others.
 */

type Delivery = Extract<Admission, { kind: 'deliver' }>;

export type Priced = {
  request: IncomingMessage;
  /** Null: the request is free. */
  delivery: Delivery | null;
  /** Null: the request is paid, or its route is free. */
  freeCall: FreeCall | null;
  /** Null: the request is of no metered route. */
  answerPrice: AnswerPrice | null;
};

/**
 * `whole`: the answer was passed whole, and the paywall has ended its delivery by the status.
 * `delivered`: the buyer has what was paid for without a whole answer: a switched connection, more
 * than can be stored before the buyer left, or an answer that broke after its reader had held it
 * up. `left`: the buyer of a metered answer has left, and owes what was delivered. `gone`: the
 * buyer of a stream of events at a fixed price has left, and may ask for it once more, as with the
 * SDK. Any other answer is read on for a repeat. `failed`: no answer came, or the upstream or the
 * gate has broken it off.
 */
type Ending = 'whole' | 'delivered' | 'left' | 'gone' | 'failed';

/** Decides what one call costs. */
export const createCost = ({ request, delivery, freeCall, answerPrice }: Priced) => {
  let answer: IncomingMessage | null = null;
  let isOver = false;
  const cancel = async (): Promise<void> => {
    freeCall?.release();
    await delivery?.finish(FAILED);
  };
  const owe = async (ending: 'delivered' | 'left' | 'gone'): Promise<void> => {
    // A free call counts.
    if (delivery === null) return;
    if (ending === 'gone') return delivery.finish(GONE);
    if (ending === 'delivered') delivery.metering?.begin();
    if (answerPrice !== null) charge(delivery, answerPrice, answer!);
    if (ending === 'delivered') await delivery.finish(delivered(null));
  };
  return {
    /** The first line of the answer has come. */
    answered: (found: IncomingMessage): void => {
      answer = found;
      rememberAnswer(request, found);
      // Before the answer: who repeats the request finds the call given back.
      if (!isDelivered(found.statusCode!)) freeCall?.release();
    },
    /** Ends the call. Only the first ending counts. Never throws. */
    end: async (ending: Ending): Promise<void> => {
      if (isOver || (ending === 'left' && delivery?.metering == null)) return;
      isOver = true;
      if (ending === 'whole') return;
      const isOwed = ending !== 'failed' && answer !== null && isDelivered(answer.statusCode!);
      await (isOwed ? owe(ending) : cancel());
    },
  };
};
export type Cost = ReturnType<typeof createCost>;
