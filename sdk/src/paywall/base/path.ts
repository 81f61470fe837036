/**
 * Servers read one path in different ways: they decode it before or after they remove dots, merge
 * slashes, cut off parameters, or end a name before a dot. So a path is taken only in the one form
 * that all of them read alike. Everything else is refused, because a list of readings always lacks
 * one, and a path with two of them could be sold as one resource and served as another.
 */

/** Stands for `%2F`. Nothing else in a path is read as it. */
export const ESCAPED_SLASH = '\0';

/** The two forms of a path in which `%2F` is `ESCAPED_SLASH`. */
type ReadPath = {
  /** As sent, with its escapes in capital letters (RFC 3986, 6.2.2.1). */
  sent: string;
  decoded: string;
};

/** The characters of RFC 3986 without the semicolon, at which servers end a part. */
const CHARACTERS = /^\/(?:[\w\-.~!$&'()*+,=:@/]|%(?!00)[0-9A-F]{2})*$/i;
const ESCAPE = /%[0-9A-F]{2}/gi;
/** What divides or ends a part where it is decoded, or needs no escape. */
const AMBIGUOUS = /[\w\-.~\\;%?#]/;
const CONTROL = /\p{Cc}/u;
/** A part without one is nothing for servers that drop what nobody sees. */
const VISIBLE = /[^\p{M}\p{Default_Ignorable_Code_Point}\s]/u;

/** Windows drops a dot and blanks at the end of a name, and some servers drop blanks around it. */
const isPlain = (part: string): boolean =>
  VISIBLE.test(part) && !part.endsWith('.') && part.trim() === part && !CONTROL.test(part);

const decodedOf = (sent: string): string | null => {
  try {
    return decodeURIComponent(sent);
  } catch {
    return null; // No UTF-8, for instance a character in more bytes than it needs.
  }
};

/** Reads a path. Null: servers could read it in different ways. */
export const readPath = (path: string): ReadPath | null => {
  if (!CHARACTERS.test(path)) return null;
  const escapes = path.match(ESCAPE) ?? [];
  if (escapes.some((each) => AMBIGUOUS.test(String.fromCharCode(Number.parseInt(each.slice(1), 16)))))
    return null;
  const sent = path.replaceAll(ESCAPE, (each) => (/2F/i.test(each) ? ESCAPED_SLASH : each.toUpperCase()));
  const decoded = decodedOf(sent);
  if (decoded === null) return null;
  const parts = decoded.slice(1).replace(/\/$/, '').split(/[/\0]/);
  return decoded === '/' || parts.every(isPlain) ? { sent, decoded } : null;
};
