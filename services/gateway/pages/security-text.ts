/** Where the operator wants reports of vulnerabilities. */
export type SecurityContacts = {
  /** `mailto:` or `https:`, the preferred one first. */
  contacts: readonly string[];
  /** The page that says what is in scope and what reporters can expect. */
  policy: string | undefined;
};

const DAY_MS = 86_400_000;
/** RFC 9116 recommends less than a year. It moves, because the configuration is maintained. */
const VALID_DAYS = 180;

/** RFC 9116: whom to tell about a vulnerability. Null if nobody is named. */
export const securityText = (
  { contacts, policy }: SecurityContacts,
  { publicUrl, now }: { publicUrl: string; now: number },
): string | null => {
  if (contacts.length === 0) return null;
  // A whole day, so that the file is the same for a day.
  const expires = new Date((Math.floor(now / DAY_MS) + VALID_DAYS) * DAY_MS).toISOString();
  return [
    ...contacts.map((contact) => `Contact: ${contact}`),
    `Expires: ${expires}`,
    'Preferred-Languages: en',
    `Canonical: ${publicUrl}/.well-known/security.txt`,
    ...(policy === undefined ? [] : [`Policy: ${policy}`]),
    '',
  ].join('\n');
};
