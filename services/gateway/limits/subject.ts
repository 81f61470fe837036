import { createHash } from 'node:crypto';
import { domainToASCII } from 'node:url';
import { LONGEST_EMAIL } from '../../../shared/contract/identity/sign-in.ts';
import type { Limit } from '../../../shared/contract/service.ts';
import { addressGroup } from '../../../shared/lib/chain/address.ts';

/** What a limit can count a call by. */
export type CallSubjects = {
  accountId: string | undefined;
  ip: string;
  /** The fields of the call before validation. */
  input: Record<string, unknown>;
  /** The nonce of a browser that has windows of its own for the values of fields. */
  knownBrowser?: string | undefined;
};

/**
 * A mailbox in one spelling, so that it is counted once whether its domain is written in its own
 * script or as xn--. A longer text stays as it is: it is not validated yet, and normalizing 60 kB
 * of combining marks takes most of a second.
 */
const normalize = (value: string): string => {
  if (value.length > LONGEST_EMAIL) return value;
  const text = value.normalize('NFKC').trim().toLowerCase();
  const [, local, domain] = /^(.*)@([^@]{1,255})$/s.exec(text) ?? [];
  if (local === undefined || domain === undefined) return text;
  return `${local}@${domainToASCII(domain) || domain}`;
};

/**
 * The subject whose calls share a window, or null where the call has none: validation refuses it
 * then.
 */
export const subjectOf = (
  per: Limit['per'],
  { accountId, ip, input, knownBrowser = '' }: CallSubjects,
): string | null => {
  if (per === 'account') return accountId ?? null;
  if (per === 'ip') return addressGroup(ip);
  const value = Object.hasOwn(input, per.field) ? input[per.field] : undefined;
  if (typeof value !== 'string') return null;
  // Hashed: the value may be a person's address, and it may have any length before validation.
  return createHash('sha256')
    .update(`${knownBrowser}\n${normalize(value)}`)
    .digest('base64url');
};
