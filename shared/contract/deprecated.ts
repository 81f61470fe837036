import { z } from 'zod';

/**
 * What a later release removes (docs/versioning.md, How long deprecated things stay). Callers see
 * it in the API document, in the SDK, and in the headers of each answer.
 */
export type Deprecation = {
  /** The day of the release that marks it. */
  since: Day;
  /** The first day on which a release without it may come. */
  until: Day;
  /** What replaces it, as the end of a sentence: "`quote.get`". */
  use: string;
};
/** A day of UTC: 2027-01-15. */
type Day = `${number}-${number}-${number}`;

const DAY_MS = 86_400_000;
/** Six months, as docs/versioning.md promises. */
const NOTICE_DAYS = 182;

/** Midnight at which a day begins. @throws Error if there is no such day */
const startOf = (day: Day): number => {
  const at = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(at) || !new Date(at).toISOString().startsWith(day)) throw new Error(`${day} is no day`);
  return at;
};

/** When it was marked, and until when it stays. @throws Error if that is shorter than promised */
export const timesOf = ({ since, until }: Deprecation): { since: number; until: number } => {
  const times = { since: startOf(since), until: startOf(until) };
  if (times.until - times.since < NOTICE_DAYS * DAY_MS)
    throw new Error(
      `deprecated since ${since}, so it stays for at least ${NOTICE_DAYS} days, not until ${until}`,
    );
  return times;
};

/** The sentence about it, without a full stop. */
export const deprecationText = (deprecation: Deprecation): string => {
  timesOf(deprecation);
  const { since, until, use } = deprecation;
  return `Deprecated since ${since}, and may be gone from ${until}: use ${use}`;
};

/** Marks a field of a request, an answer or an event. */
export const deprecatedField = <Field extends z.ZodType>(field: Field, deprecation: Deprecation): Field =>
  field.meta({
    deprecated: true,
    description: [field.description, deprecationText(deprecation)].filter(Boolean).join('. '),
  });

/** The headers of an answer of a deprecated operation. */
export const DEPRECATION_HEADERS = ['deprecation', 'sunset', 'link'] as const;

/**
 * When an operation was marked (RFC 9745), until when it stays (RFC 8594), and the page about it.
 * @param page the address of the page
 */
export const deprecationHeaders = (
  deprecation: Deprecation,
  page: string,
): Record<(typeof DEPRECATION_HEADERS)[number], string> => {
  const { since, until } = timesOf(deprecation);
  return {
    deprecation: `@${since / 1000}`,
    sunset: new Date(until).toUTCString(),
    link: `<${page}>; rel="deprecation"; type="text/html"`,
  };
};

/** The question to each gateway, and its answer. Another version may say more. */
export const DEPRECATED_USES = 'deprecated';
export const DeprecatedUses = z.object({
  uses: z.array(z.object({ operation: z.string(), account_id: z.string(), last_used_at: z.iso.datetime() })),
});
export type DeprecatedUses = z.infer<typeof DeprecatedUses>;
