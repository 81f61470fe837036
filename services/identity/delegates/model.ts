import { byName, CAPS, type CapName } from '../../../shared/contract/limits.ts';

type Limits = Record<CapName, string | null>;
export const NO_LIMITS: Limits = byName(CAPS, () => null);
/** Payments to vendors that do not use Quittance. Null origins: any origin. */
type External = { pay_to: 'any' | readonly string[]; origins: readonly string[] | null };
type Caps = {
  limits: Limits;
  allowed_service_ids: readonly string[] | null;
  external: External | null;
  approval_above: string | null;
  paused: boolean;
};

/** The limits after a change. A limit that the change does not name stays. */
export const withLimits = (
  before: Limits,
  change: { [Name in CapName]?: string | null | undefined },
): Limits =>
  byName(CAPS, (name) => {
    const value = change[name];
    return value === undefined ? before[name] : value;
  });

const above = (before: string | null, after: string | null): boolean =>
  before !== null && (after === null || BigInt(after) > BigInt(before));

/** Whether a list allows an entry that it did not allow before. Null: every entry is allowed. */
const allowsMore = (before: readonly string[] | null, after: readonly string[] | null): boolean => {
  if (before === null) return false;
  const allowed = new Set(before);
  return after === null || after.some((entry) => !allowed.has(entry));
};

/** Whether a change lets a key pay more vendors that do not use Quittance. */
export const raisesExternal = (before: External | null, after: External | null): boolean => {
  if (after === null) return false;
  if (before === null) return true;
  const payees = ({ pay_to }: External) => (pay_to === 'any' ? null : pay_to);
  return allowsMore(payees(before), payees(after)) || allowsMore(before.origins, after.origins);
};

/**
 * Whether a change lets a key spend more, at other services, at other vendors, or without approval,
 * or pay again after a pause.
 * Such a change needs a fresh sign-in (docs/spec/decisions.md, Sign-in).
 */
export const raises = (before: Caps, after: Caps): boolean => {
  if (CAPS.some((name) => above(before.limits[name], after.limits[name]))) return true;
  return (
    allowsMore(before.allowed_service_ids, after.allowed_service_ids) ||
    raisesExternal(before.external, after.external) ||
    above(before.approval_above, after.approval_above) ||
    (before.paused && !after.paused)
  );
};

export const EXTERNAL_WITH_SERVICES =
  'cannot be used together with allowed_service_ids: set one of them to null';
/** The services are no limit of payments to vendors that are not registered as services. */
export const isContradictory = ({
  allowed_service_ids,
  external,
}: Pick<Caps, 'allowed_service_ids' | 'external'>): boolean =>
  allowed_service_ids !== null && external !== null;

/** Whether a key would expire later. Null means that it does not expire. */
export const extendsExpiry = (before: number | null, after: number | null): boolean =>
  before !== null && (after === null || after > before);
