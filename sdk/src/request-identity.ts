import { hexHash, utf8 } from './encoding.ts';

/** Longer text is hashed, because stores use the identity of a request as a key. */
const MAX_PLAIN = 400;

/**
 * Identifies a request by a text without line breaks, such as its method and address, and its body.
 * Short text without a body is not hashed: a hash takes as long as everything else that the SDK
 * does for a prepaid request.
 */
export const identityOf = async (text: string, body: Uint8Array): Promise<string> => {
  if (body.length === 0 && text.length <= MAX_PLAIN) return text;
  const head = utf8(`${text}\n`);
  const bytes = new Uint8Array(head.length + body.length);
  bytes.set(head);
  bytes.set(body, head.length);
  return hexHash(bytes);
};
