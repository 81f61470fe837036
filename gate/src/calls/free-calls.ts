import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RETURN_PARAMETER } from '../../../sdk/src/paywall/adapter.ts';
import { addressGroup, parseAddress } from '../../../shared/lib/chain/address.ts';
import type { FreeCounters } from '../ground/free-counters.ts';
import type { FreeQuota, Route } from '../ground/routes.ts';
import { DECLINE_HEADER, presentsPayment } from './headers.ts';

/** A call that passes unpaid. */
export type FreeCall = {
  kind: 'free';
  remaining: number;
  /** The upstream has failed, so it does not count. */
  release: () => void;
};
/** `used_up`: the caller has no free call left. `none`: the request may have no free call. */
type Asked = FreeCall | { kind: 'used_up' | 'none' };

type Call = { route: Route; method: string; target: string; request: IncomingMessage };
export type FreeCalls = { ask: (call: Call) => Promise<Asked> };

export const REMAINING_HEADER = 'quittance-free-remaining';

const LONGEST_NAME = 512;
/** The clocks of gates differ. A number must not end before its window does for all of them. */
const MARGIN_MS = 300_000;

/** The beginning of a window, which names it, and the time until its end. */
export const windowAt = (per: FreeQuota['per'], now: Date): { name: string; leftMs: number } => {
  const [year, month, day] = [now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()];
  const [length, end] = {
    hour: [13, Date.UTC(year, month, day, now.getUTCHours() + 1)] as const,
    day: [10, Date.UTC(year, month, day + 1)] as const,
    month: [7, Date.UTC(year, month + 1)] as const,
  }[per];
  return { name: now.toISOString().slice(0, length), leftMs: end - now.getTime() };
};

/**
 * The address of the caller.
 * @param proxies how many proxies before the gate add the address that they see
 * @returns null if there is none: fewer proxies have seen the request, or they name no address
 */
export const addressOf = ({ headers, socket }: IncomingMessage, proxies: number): string | null => {
  const chain = String(headers['x-forwarded-for'] ?? '').split(',');
  // What stands before the addresses of the proxies is what the caller says.
  const address = proxies === 0 ? socket.remoteAddress : chain.at(-proxies)?.trim();
  return address === undefined ? null : parseAddress(address);
};

/** Who calls. Null: nobody who could have free calls. */
const callerOf = (request: IncomingMessage, by: string | null, proxies: number): string | null => {
  if (by === null) {
    const address = addressOf(request, proxies);
    return address === null ? null : addressGroup(address);
  }
  const [name, second] = request.headersDistinct[by] ?? [];
  // Of two names the upstream might check the other one.
  if (name === undefined || second !== undefined) return null;
  return name === '' || name.length > LONGEST_NAME ? null : name;
};

type FreeCallsDeps = {
  counters: FreeCounters;
  /** The keys in the store are made with it, so that they show no address and no API key. */
  secret: string;
  proxies: number;
  onError: (error: unknown) => void;
};

/** True for a request that may have a free call of its route, if its caller has one left. */
const mayBeFree = ({ method, target, request }: Call): boolean => {
  const { headers } = request;
  // Who pays, or asks for the price, gets no free call.
  if (presentsPayment(headers) || target.includes(RETURN_PARAMETER)) return false;
  return headers[DECLINE_HEADER] !== 'no' && method !== 'OPTIONS';
};

/** Grants free calls. While the store does not answer there are none. */
export const createFreeCalls = (deps: FreeCallsDeps): FreeCalls => {
  const { counters, secret, proxies, onError } = deps;
  const keyOf = (about: readonly unknown[]): string =>
    `gate:free:${createHmac('sha256', secret).update(JSON.stringify(about)).digest('base64url')}`;
  const callOf = (key: string, remaining: number): FreeCall => {
    let isGiven = false;
    const release = (): void => {
      if (isGiven) return;
      isGiven = true;
      counters.release(key).catch(onError);
    };
    return { kind: 'free', remaining, release };
  };
  return {
    ask: async (call) => {
      const { free, match } = call.route;
      if (free === undefined || !mayBeFree(call)) return { kind: 'none' };
      const { calls, per, by } = free;
      const caller = callerOf(call.request, by, proxies);
      if (caller === null) return { kind: 'none' };
      const { name, leftMs } = windowAt(per, new Date());
      const key = keyOf([match, calls, per, by, name, caller]);
      try {
        const remaining = await counters.take(key, calls, leftMs + MARGIN_MS);
        return remaining === null ? { kind: 'used_up' } : callOf(key, remaining);
      } catch (error) {
        onError(error);
        return { kind: 'none' };
      }
    },
  };
};

/**
 * Asks for a free call, and names what is left in the answer.
 * @returns null if the request has to be paid
 */
export const askFree = async (
  freeCalls: FreeCalls,
  call: Call,
  response: ServerResponse,
): Promise<FreeCall | null> => {
  const asked = await freeCalls.ask(call);
  if (asked.kind === 'none') return null;
  response.setHeader(REMAINING_HEADER, asked.kind === 'free' ? asked.remaining : 0);
  if (asked.kind !== 'free') return null;
  // A shared cache would deliver it to those who have to pay. The upstream may override it.
  response.setHeader('cache-control', 'private, no-store');
  return asked;
};
