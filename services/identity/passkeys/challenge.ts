import { z } from 'zod';
import type { Pool } from '../../../shared/db/pool.ts';
import { type Ceremony, consumeChallenge } from './store/passkey_challenges.ts';

const ClientData = z.object({ challenge: z.string(), crossOrigin: z.boolean().optional() });

/**
 * Consumes the challenge of an answer and returns it. Null unless this service issued it for this
 * ceremony, nobody has answered it yet, and the page was not in a frame of another site. A refused
 * answer consumes the challenge too.
 */
export const consumeClientChallenge = async (
  { pool }: { pool: Pool },
  ceremony: Ceremony,
  sessionId: string | null,
  clientDataJSON: string,
): Promise<string | null> => {
  let data: unknown;
  try {
    data = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  const client = ClientData.safeParse(data);
  if (!client.success || client.data.crossOrigin === true) return null;
  const { challenge } = client.data;
  // Postgres would refuse a NUL in the parameter. Issued challenges are base64url.
  if (!/^[A-Za-z0-9_-]{43}$/.test(challenge)) return null;
  return (await consumeChallenge(pool, { challenge, ceremony, session_id: sessionId })) ? challenge : null;
};
