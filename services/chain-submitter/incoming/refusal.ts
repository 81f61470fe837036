import type { IncomingReason } from '../../../shared/contract/chain-submitter.ts';
import { refuser } from '../payments/refusal.ts';

/** Refuses a transaction of another client. @throws PaymentRefusal */
export const refuse: (reason: IncomingReason, message: string) => never = refuser<IncomingReason>();
