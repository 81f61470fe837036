import type { Input } from '../../types.ts';

type Requirement = NonNullable<Input<'settlement.payExternal'>['requirement']>;
/** One entry of `accepts` of a 402, unchanged, because the payment repeats it. */
export type X402Offer = { version: 1 | 2; requirement: Requirement };

type Challenge = NonNullable<Input<'settlement.payExternal'>['challenge']>;
/** The parameters of a challenge, unchanged, because the payment repeats them. */
export type MppOffer = { version: 'mpp'; challenge: Challenge };

/** An offer of a vendor that does not use Quittance, of any protocol. */
export type OutgoingOffer = X402Offer | MppOffer;
