import { generateKeyPairSigner } from '@solana/kit';

/**
 * A new payout address of the test environment. Nobody keeps its key: what it receives has no value
 * and cannot be refunded. A wallet cannot pay itself, so one person needs a second address to try
 * both sides.
 */
export const testAddress = async (): Promise<string> => (await generateKeyPairSigner()).address;
