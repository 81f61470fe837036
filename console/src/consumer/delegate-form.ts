import type { Output } from '../../../sdk/src/main.ts';
import { formatUsdc, parseUsdc } from '../lib/money.ts';

export type Delegate = Output<'identity.listDelegates'>['data'][number];

/** The form of a delegate: the entered text, and the body that is sent. */

export const CAPS = [
  ['per_payment', 'For one payment'],
  ['daily', 'Each day (UTC)'],
  ['monthly', 'Each month (UTC)'],
  ['total', 'Ever'],
] as const;
type Cap = (typeof CAPS)[number][0];
export type Typed = Record<Cap, string> & { name: string; services: string; until: string };

export const SERVICE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** The browser's format of a local time. Date would parse half of one as a year. */
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;
const two = (value: number) => String(value).padStart(2, '0');

/** A moment as a datetime field shows it: in the reader's time zone, to the minute. */
const localMinute = (iso: string): string => {
  const at = new Date(iso);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

export const typedOf = (delegate: Delegate | null): Typed => {
  const cap = (name: Cap) => {
    const micro = delegate?.limits[name] ?? null;
    return micro === null ? '' : formatUsdc(BigInt(micro));
  };
  return {
    name: delegate?.name ?? '',
    ...{ per_payment: cap('per_payment'), daily: cap('daily'), monthly: cap('monthly'), total: cap('total') },
    services: (delegate?.allowed_service_ids ?? []).join('\n'),
    until: delegate?.expires_at == null ? '' : localMinute(delegate.expires_at),
  };
};

const idsOf = (services: string): string[] => services.split(/[\s,]+/).filter((id) => id !== '');

/** The errors of the entered text, by field. */
export const faultsOf = (typed: Typed): Partial<Record<keyof Typed, string>> => {
  const faults: Partial<Record<keyof Typed, string>> = {};
  for (const [name] of CAPS)
    if (typed[name].trim() !== '' && parseUsdc(typed[name]) === null)
      faults[name] = 'An amount above zero with at most six decimals, or nothing.';
  const ids = idsOf(typed.services);
  const bad = ids.find((id) => !SERVICE_ID.test(id));
  if (bad !== undefined) faults.services = `“${bad.slice(0, 40)}” is not the id of a service.`;
  else if (ids.length > 100) faults.services = `At most 100 services; these are ${ids.length}.`;
  if (typed.until !== '' && !MINUTE.test(typed.until)) faults.until = 'A day and a time, or nothing.';
  else if (typed.until !== '' && !(new Date(typed.until).getTime() > Date.now()))
    faults.until = 'This time has passed.';
  return faults;
};

/** The fields of the API's body, null for an empty field. `typed` must have no faults. */
const bodyOf = (typed: Typed) => {
  const ids = idsOf(typed.services);
  return {
    name: typed.name.trim(),
    limits: Object.fromEntries(
      CAPS.map(([name]) => [name, parseUsdc(typed[name])?.toString() ?? null]),
    ) as Record<Cap, string | null>,
    allowed_service_ids: ids.length === 0 ? null : [...new Set(ids)],
    expires_at: typed.until === '' ? null : new Date(typed.until).toISOString(),
  };
};

/** The body of a creation. It omits empty fields. */
export const newBody = (typed: Typed) => {
  const { name, limits, allowed_service_ids, expires_at } = bodyOf(typed);
  const set = Object.entries(limits).filter(([, micro]) => micro !== null);
  return {
    name,
    limits: Object.fromEntries(set) as Partial<Record<Cap, string>>,
    ...(allowed_service_ids !== null && { allowed_service_ids }),
    ...(expires_at !== null && { expires_at }),
  };
};

/**
 * The body of a change: only the changed fields. So a concurrent change of another user stays, and
 * a fresh sign-in is requested only if the change allows more.
 */
export const changedBody = (before: Typed, typed: Typed) => {
  const body = bodyOf(typed);
  const isChanged = (name: keyof Typed) => before[name].trim() !== typed[name].trim();
  const caps = CAPS.filter(([name]) => isChanged(name)).map(([name]) => [name, body.limits[name]]);
  return {
    ...(isChanged('name') && { name: body.name }),
    ...(caps.length > 0 && {
      limits: Object.fromEntries(caps) as Partial<Record<Cap, string | null>>,
    }),
    ...(isChanged('services') && { allowed_service_ids: body.allowed_service_ids }),
    ...(isChanged('until') && { expires_at: body.expires_at }),
  };
};
