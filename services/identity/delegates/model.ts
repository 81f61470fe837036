type LimitName = 'per_payment' | 'daily' | 'monthly' | 'total';
type Limits = Record<LimitName, string | null>;
type Caps = { limits: Limits; allowed_service_ids: readonly string[] | null };

/** The limits after a change. A limit that the change does not name stays. */
export const withLimits = (
  before: Limits,
  change: { [Name in LimitName]?: string | null | undefined },
): Limits => {
  const of = (name: LimitName) => {
    const value = change[name];
    return value === undefined ? before[name] : value;
  };
  return { per_payment: of('per_payment'), daily: of('daily'), monthly: of('monthly'), total: of('total') };
};

const above = (before: string | null, after: string | null): boolean =>
  before !== null && (after === null || BigInt(after) > BigInt(before));

/**
 * Whether a change lets a key spend more, or at other services. Such a change needs a fresh sign-in
 * (docs/spec/decisions.md, Sign-in).
 */
export const raises = (before: Caps, after: Caps): boolean => {
  const names = Object.keys(before.limits) as (keyof Limits)[];
  if (names.some((name) => above(before.limits[name], after.limits[name]))) return true;
  if (before.allowed_service_ids === null) return false;
  const allowed = new Set(before.allowed_service_ids);
  return after.allowed_service_ids === null || after.allowed_service_ids.some((id) => !allowed.has(id));
};

/** Whether a key would expire later. Null means that it does not expire. */
export const extendsExpiry = (before: number | null, after: number | null): boolean =>
  before !== null && (after === null || after > before);
