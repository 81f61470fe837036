import { z } from 'zod';

/**
 * From where a call came, coarse enough to be kept: the network of the address (IPv4 /24, IPv6 /48)
 * and the family of the program. Both are for the owner of an account, who recognises them. What
 * anybody may ask for is shared out among networks. Nothing else decides by them, because a proxy
 * or a thief chooses them.
 */
export const Client = z.strictObject({ address: z.string().max(64), agent: z.string().max(32) });
export type Client = z.infer<typeof Client>;
