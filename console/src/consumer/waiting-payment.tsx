import { useSession } from '../api/use-session.tsx';
import { continueOrder, waitingOrder } from '../session/waiting-order.ts';
import { Button, Notice } from '../ui/index.ts';

/** The way back to the payment that a person has left to buy money for it. */
export const WaitingPayment = () => {
  const order = waitingOrder(useSession().environment, 'money');
  return order === null ? null : (
    <Notice tone="wait" title="Your payment is awaiting the money">
      <p>You can pay when the USDC has arrived. You need not keep this page open.</p>
      <Button onPress={() => continueOrder(order)}>Back to your payment</Button>
    </Notice>
  );
};
