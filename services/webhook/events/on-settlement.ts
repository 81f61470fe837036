import { toAccountEvents } from './record-events.ts';

export const accepted = toAccountEvents('settlement.accepted');
export const authorized = toAccountEvents('settlement.authorized');
export const extended = toAccountEvents('settlement.extended');
export const atRisk = toAccountEvents('settlement.atRisk');
export const captured = toAccountEvents('settlement.captured');
export const voided = toAccountEvents('settlement.voided');
export const issued = toAccountEvents('settlement.issued');
export const finalized = toAccountEvents('settlement.finalized');
export const failed = toAccountEvents('settlement.failed');
export const reversed = toAccountEvents('settlement.reversed');
export const redeemed = toAccountEvents('settlement.redeemed');
export const expired = toAccountEvents('settlement.expired');
export const approvalRequested = toAccountEvents('settlement.approvalRequested');
export const approvalDecided = toAccountEvents('settlement.approvalDecided');
export const declined = toAccountEvents('settlement.declined');
export const delegateExhausted = toAccountEvents('settlement.delegateExhausted');
