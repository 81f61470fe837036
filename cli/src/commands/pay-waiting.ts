import { setTimeout as sleep } from 'node:timers/promises';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { ApiError, type Output, PaidElsewhereError, PaymentUndecidedError } from '../../../sdk/src/main.ts';
import { PaymentOpenError } from '../../../sdk/src/pay/main.ts';
import { type Context, pageOf } from '../context.ts';
import { InterruptedError, RefusedError } from '../errors.ts';
import { following } from '../following.ts';
import { withProgress } from '../io.ts';
import { plain, shownTime } from '../text/text.ts';

type Approval = Output<'settlement.getApproval'>;

/** The pause before a payment without an outcome is looked at again. */
const OPEN_MS = 5000;

const isWaiting = ({ status }: Approval): boolean => status === 'awaiting_approval';

/**
 * Waits for the decision of the owner.
 * @throws InterruptedError on Ctrl-C; RefusedError if the owner does not decide in time
 */
const untilDecided = async (context: Context, approval_id: string): Promise<void> => {
  const { io } = context;
  const page = pageOf(context, `/approvals/${approval_id}`);
  const client = await context.payer();
  const read = async () => [await client.settlement.getApproval({ approval_id })];
  const reading = following(io, 'The approval', read);
  const wait = async (): Promise<Approval> => {
    let [approval] = await reading.begin();
    const { amount, service_name, expires_at } = approval!;
    const what = `${displayUsdc(amount)} to ${plain(service_name)}`;
    io.err(`The owner must approve ${what} until ${shownTime(expires_at)}:\n\n  ${page}\n\n`);
    while (isWaiting(approval!))
      [approval] = await withProgress(io, 'Waiting for the owner …', () => reading.next());
    return approval!;
  };
  const { status } = await wait().catch((error: unknown) => {
    if (!io.signal.aborted) throw error;
    throw new InterruptedError(
      `interrupted; nothing was paid, and the approval ${approval_id} stays open`,
      `Approve it at ${page}, then repeat the same command, which pays it. Or deny it: quittance approvals deny ${approval_id}`,
      'no',
    );
  });
  if (status === 'expired')
    throw new RefusedError(
      'the owner did not decide in time; nothing was paid',
      'Repeat the same command, which asks again.',
    );
};

/**
 * Repeats a call that pays while its payment waits for the owner, or has no outcome yet. Each
 * repeat continues the same payment.
 */
export const untilPaid = async <T>(context: Context, call: () => Promise<T>): Promise<T> => {
  const { io } = context;
  for (;;)
    try {
      return await call();
    } catch (error) {
      io.signal.throwIfAborted();
      const isOpen = error instanceof PaymentUndecidedError || error instanceof PaymentOpenError;
      if (error instanceof ApiError && error.code === 'approval_required' && error.approvalId !== null)
        await untilDecided(context, error.approvalId);
      else if (isOpen && !(error instanceof PaidElsewhereError))
        await withProgress(io, 'Waiting for the outcome of the payment …', () =>
          sleep(OPEN_MS, undefined, { signal: io.signal }),
        );
      else throw error;
    }
};
