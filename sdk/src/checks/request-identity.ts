import { hexHash, utf8 } from './encoding.ts';

/** Longer text is hashed, because stores use the identity of a request as a key. */
const MAX_PLAIN = 400;

/** What decides which part or version of a resource is answered (RFC 9110, 13 and 14). */
const OF_REQUEST = [
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'range',
] as const;
/** What decides how a body is read. */
const OF_BODY = ['content-encoding', 'content-type'] as const;

/** Without the boundary of a form, which is another one each time that the same form is sent. */
const formOf = (name: string, value: string): string =>
  name === 'content-type' && /^multipart\//i.test(value) ? value.split(';', 1)[0]! : value;

/**
 * The headers of a request that decide its answer, as JSON. Null: it has none of them. What an
 * answer depends on besides, it names in `Vary`.
 */
export const decidingHeaders = (header: (name: string) => string | null, hasBody: boolean): string | null => {
  const names = hasBody ? [...OF_REQUEST, ...OF_BODY] : OF_REQUEST;
  const found = names.flatMap((name) => {
    const value = header(name);
    return value === null ? [] : [[name, formOf(name, value)]];
  });
  return found.length === 0 ? null : JSON.stringify(found);
};

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
