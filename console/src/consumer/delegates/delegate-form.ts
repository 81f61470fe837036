import { CAP_NAMES, type CapName } from '../../../../sdk/src/generated/limits.ts';
import type { Output } from '../../../../sdk/src/main.ts';
import { fieldUsdc, NOT_AN_AMOUNT, typedUsdc } from '../../lib/money.ts';

export type Delegate = Output<'identity.listDelegates'>['data'][number];

/** The form of a delegate: the entered text, and the body that is sent. */

export type Typed = Record<CapName, string> & {
  name: string;
  services: string;
  until: string;
  /** Whether it may pay vendors that do not use Quittance: `no`, `any` address, or a `list`. */
  others: string;
  /** Addresses and origins of such vendors, one per line. */
  payTo: string;
  origins: string;
  /** A payment above this amount asks the owner. Empty: none does. */
  ask: string;
};

export const SERVICE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** An address of Solana: 32 bytes in base58. The API checks its bytes. */
const ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;
const isOrigin = (text: string): boolean => /^https?:/.test(text) && URL.parse(text)?.origin === text;
/** How many addresses or origins a delegate may have. */
const MAX_LISTED = 50;
/** The browser's format of a local time. Date would parse half of one as a year. */
const MINUTE = /^\d{4}-\d\d-\d\dT\d\d:\d\d$/;
const two = (value: number) => String(value).padStart(2, '0');

/** A moment as a datetime field shows it: in the reader's time zone, to the minute. */
const localMinute = (iso: string): string => {
  const at = new Date(iso);
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}`;
};

const byCap = <T>(make: (name: CapName) => T): Record<CapName, T> =>
  Object.fromEntries(CAP_NAMES.map((name) => [name, make(name)])) as Record<CapName, T>;

export const typedOf = (delegate: Delegate | null): Typed => {
  const cap = (name: CapName) => {
    const micro = delegate?.limits[name] ?? null;
    return micro === null ? '' : fieldUsdc(micro);
  };
  const external = delegate?.external ?? null;
  return {
    name: delegate?.name ?? '',
    ...byCap(cap),
    services: (delegate?.allowed_service_ids ?? []).join('\n'),
    until: delegate?.expires_at == null ? '' : localMinute(delegate.expires_at),
    others: external === null ? 'no' : external.pay_to === 'any' ? 'any' : 'list',
    payTo: external === null || external.pay_to === 'any' ? '' : external.pay_to.join('\n'),
    origins: (external?.origins ?? []).join('\n'),
    ask: delegate?.approval_above == null ? '' : fieldUsdc(delegate.approval_above),
  };
};

/** The entries of a list that is typed one per line, each once. */
export const partsOf = (text: string): string[] => [
  ...new Set(text.split(/[\s,]+/).filter((part) => part !== '')),
];

type Faults = Partial<Record<keyof Typed, string>>;

/** The errors of the fields about vendors that do not use Quittance. */
const faultsOfOthers = ({ others, services, payTo, origins }: Typed): Faults => {
  if (others === 'no') return {};
  const faults: Faults = {};
  if (partsOf(services).length > 0) {
    faults.services =
      'An agent with allowed services cannot pay outside vendors. Clear this, or choose “No” below.';
  }
  const badOrigin = partsOf(origins).find((text) => !isOrigin(text));
  if (badOrigin !== undefined) {
    faults.origins = `“${badOrigin.slice(0, 60)}” is not an origin, like https://api.example.com.`;
  } else if (partsOf(origins).length > MAX_LISTED) faults.origins = `At most ${MAX_LISTED}.`;
  if (others === 'any') return faults;
  const badAddress = partsOf(payTo).find((text) => !ADDRESS.test(text));
  if (badAddress !== undefined) faults.payTo = `“${badAddress.slice(0, 50)}” is not an address.`;
  else if (partsOf(payTo).length === 0) faults.payTo = 'Enter at least one address, or choose “Any address”.';
  else if (partsOf(payTo).length > MAX_LISTED) faults.payTo = `At most ${MAX_LISTED}.`;
  return faults;
};

/** The errors of the entered text, by field. */
export const faultsOf = (typed: Typed): Faults => {
  const faults = faultsOfOthers(typed);
  for (const name of [...CAP_NAMES, 'ask'] as const)
    if (typed[name].trim() !== '' && typedUsdc(typed[name]) === null) faults[name] = NOT_AN_AMOUNT;
  const ids = partsOf(typed.services);
  const bad = ids.find((id) => !SERVICE_ID.test(id));
  if (bad !== undefined) faults.services = `“${bad.slice(0, 40)}” is not the id of a service.`;
  else if (ids.length > 100) faults.services = `At most 100 services; these are ${ids.length}.`;
  if (typed.until !== '' && !MINUTE.test(typed.until))
    faults.until = 'Enter a date and a time, or leave this empty.';
  else if (typed.until !== '' && !(new Date(typed.until).getTime() > Date.now()))
    faults.until = 'This time is in the past.';
  return faults;
};

const externalOf = ({ others, payTo, origins }: Typed): Delegate['external'] => {
  if (others === 'no') return null;
  const named = partsOf(origins);
  return {
    pay_to: others === 'any' ? 'any' : partsOf(payTo),
    origins: named.length === 0 ? null : named,
  };
};

/** The fields of the API's body, null for an empty field. `typed` must have no faults. */
const bodyOf = (typed: Typed) => {
  const ids = partsOf(typed.services);
  return {
    name: typed.name.trim(),
    limits: byCap((name) => typedUsdc(typed[name])?.toString() ?? null),
    allowed_service_ids: ids.length === 0 ? null : ids,
    external: externalOf(typed),
    approval_above: typedUsdc(typed.ask)?.toString() ?? null,
    expires_at: typed.until === '' ? null : new Date(typed.until).toISOString(),
  };
};

/** The body of a creation. It omits empty fields. */
export const newBody = (typed: Typed) => {
  const { name, limits, allowed_service_ids, external, approval_above, expires_at } = bodyOf(typed);
  const set = Object.entries(limits).filter(([, micro]) => micro !== null);
  return {
    name,
    limits: Object.fromEntries(set) as Partial<Record<CapName, string>>,
    ...(allowed_service_ids !== null && { allowed_service_ids }),
    ...(external !== null && { external }),
    ...(approval_above !== null && { approval_above }),
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
  const caps = CAP_NAMES.filter(isChanged).map((name) => [name, body.limits[name]]);
  return {
    ...(isChanged('name') && { name: body.name }),
    ...(caps.length > 0 && {
      limits: Object.fromEntries(caps) as Partial<Record<CapName, string | null>>,
    }),
    ...(isChanged('services') && { allowed_service_ids: body.allowed_service_ids }),
    ...(JSON.stringify(externalOf(before)) !== JSON.stringify(body.external) && { external: body.external }),
    ...(isChanged('ask') && { approval_above: body.approval_above }),
    ...(isChanged('until') && { expires_at: body.expires_at }),
  };
};
