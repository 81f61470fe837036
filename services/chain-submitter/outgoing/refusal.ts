import type { OutgoingReason } from '../../../shared/contract/chain-submitter.ts';
import { refuser } from '../payments/refusal.ts';

/** Refuses an outgoing payment. @throws PaymentRefusal */
export const refuse: (reason: OutgoingReason, message: string) => never = refuser<OutgoingReason>();
