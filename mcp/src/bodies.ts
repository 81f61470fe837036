/** The bodies of requests and answers, as text or base64. */

/** The maximum of an answer's body. A longer one is cut, because the model reads it. */
const MAX_BODY_BYTES = 1_048_576;
const TEXT =
  /^\s*(text\/|application\/([\w.+-]+\+)?(json|xml)\b|application\/(javascript|x-www-form-urlencoded|graphql)\b)/i;

type Body = { body: string; encoding: 'text' | 'base64'; truncated: boolean };

const readUpTo = async (response: Response, most: number): Promise<{ bytes: Buffer; truncated: boolean }> => {
  if (response.body === null) return { bytes: Buffer.alloc(0), truncated: false };
  const parts: Uint8Array[] = [];
  let length = 0;
  for await (const part of response.body as unknown as AsyncIterable<Uint8Array>) {
    parts.push(part);
    length += part.length;
    // Ends the connection, too.
    if (length > most) break;
  }
  const bytes = Buffer.concat(parts);
  return { bytes: bytes.subarray(0, most), truncated: bytes.length > most };
};

/** The body as text if its type and its bytes are text, and as base64 otherwise. */
export const readBody = async (response: Response): Promise<Body> => {
  const { bytes, truncated } = await readUpTo(response, MAX_BODY_BYTES);
  const type = response.headers.get('content-type') ?? 'text/plain';
  if (TEXT.test(type)) {
    try {
      // A cut may be inside a character.
      const body = new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: truncated });
      return { body, encoding: 'text', truncated };
    } catch {
      // Not the text that its type promises.
    }
  }
  return { body: bytes.toString('base64'), encoding: 'base64', truncated };
};
