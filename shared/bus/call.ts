import { SpanKind } from '@opentelemetry/api';
import { type Msg, type MsgHdrs, NatsError, ErrorCode as NatsErrorCode } from 'nats';
import type { z } from 'zod';
import type { Client } from '../contract/client.ts';
import { ofAnotherVersion, ServiceError } from '../contract/errors.ts';
import type { Principal } from '../contract/principal.ts';
import { readKnown } from '../contract/read.ts';
import { type BusUser, type InternalName, type ServiceContract, subjects } from '../contract/service.ts';
import { type LaneOwner, laneOf } from '../lib/lane.ts';
import { count } from '../lib/telemetry/metrics.ts';
import { buildName } from '../lib/telemetry/version.ts';
import type { Bus } from './connect.ts';
import { type Answered, encode, type NotedIds, openReply, type RequestEnvelope } from './envelope.ts';
import { BUILD, inBusSpan, requestHeader, traceHeaders } from './trace.ts';

const DEFAULT_TIMEOUT_MS = 5000;

/**
 * This call or an earlier one with the same ids may have been carried out, so only the same ids are
 * safe.
 */
const unavailable = () =>
  new ServiceError(
    'service_unavailable',
    'temporarily unavailable; repeat the call with the same ids, which is safe',
    { money_moved: 'unknown', safe_action: 'retry_same_attempt', retryAfterSeconds: 1 },
  );

/** Tells who answers that the caller has read the call, by the contract of its build. */
const OF_BUILD = { [BUILD]: buildName };

type Addressee = { responder: BusUser; subject: string; lane?: number | undefined };

/**
 * Asks the owner of the lane. A lane without an owner has no subscriber, so nobody has got the
 * request, and any replica is asked.
 */
const ask = async (
  bus: Bus,
  { responder, subject, lane }: Addressee,
  ...rest: [Uint8Array, { timeoutMs: number; headers: MsgHdrs }]
): Promise<Msg> => {
  if (lane !== undefined) {
    try {
      return await bus.replies.request({ responder, subject: subjects.lane(subject, lane) }, ...rest);
    } catch (error) {
      if (!(error instanceof NatsError) || error.code !== NatsErrorCode.NoResponders) throw error;
      count('quittance_lane_fallbacks_total', 1, { to: responder as LaneOwner, kind: 'call' });
    }
  }
  return bus.replies.request({ responder, subject }, ...rest);
};

const request = (
  bus: Bus,
  to: Addressee,
  envelope: RequestEnvelope,
  timeoutMs: number,
  headers: Record<string, string> = {},
): Promise<Answered> =>
  inBusSpan({ operation: 'request', destination: to.subject, kind: SpanKind.CLIENT }, async () => {
    if (!bus.connected) throw unavailable();
    try {
      const reply = await ask(bus, to, encode(envelope), {
        timeoutMs,
        headers: traceHeaders({ ...requestHeader(), ...headers }),
      });
      return openReply(reply.data);
    } catch (error) {
      if (!(error instanceof NatsError)) throw error;
      if (error.code === NatsErrorCode.PermissionsViolation) throw error;
      throw unavailable();
    }
  });

/**
 * Calls an internal operation of another service. An operator calls in the own name.
 * @throws ServiceError the error of the other service, or service_unavailable if no service answers
 *   in time, or only one of a version that answers what this one does not know
 */
export const call = async <S extends ServiceContract, N extends InternalName<S>>(
  bus: Bus,
  contract: S,
  name: N,
  input: z.infer<S['internal'][N]['input']>,
  { timeoutMs = DEFAULT_TIMEOUT_MS }: { timeoutMs?: number } = {},
): Promise<z.infer<S['internal'][N]['output']>> => {
  const subject =
    bus.operator === undefined
      ? subjects.internal(contract.name, name)
      : subjects.operator(bus.operator, contract.name, name);
  const { ok } = await request(bus, { responder: contract.name, subject }, { input }, timeoutMs, OF_BUILD);
  const answer = readKnown<S['internal'][N]['output']>(contract.internal[name]!.output, ok);
  if (answer.success) return answer.data;
  bus.logger.error({ operation: `${contract.name}.${name}`, err: answer.error }, 'answer of another version');
  throw ofAnotherVersion();
};

/** Returns functions of the input alone. Each calls one internal operation of another service. */
export const callsFrom =
  (bus: Bus) =>
  <S extends ServiceContract, N extends InternalName<S>>(
    contract: S,
    name: N,
    options?: { timeoutMs: number },
  ) =>
  (input: z.infer<S['internal'][N]['input']>) =>
    call(bus, contract, name, input, options);

/**
 * Calls a public operation for the gateway, with the caller's principal. Only the gateway's NATS
 * user may publish `rpc.*`.
 * @param client from where the call came, for security events
 * @param idempotencyKey for an operation that takes one
 * @param onReplay called if the answer is that of an earlier call with the key
 * @param onNoted called with ids that the service has noted for the log line
 */
export const forward = async (
  bus: Bus,
  contract: ServiceContract,
  name: string,
  input: unknown,
  principal: Principal,
  {
    timeoutMs,
    headers,
    client,
    idempotencyKey,
    onReplay,
    onNoted,
  }: {
    timeoutMs: number;
    headers: Record<string, string>;
    client?: Client | undefined;
    idempotencyKey?: string | undefined;
    onReplay?: () => void;
    onNoted?: (ids: NotedIds) => void;
  },
): Promise<unknown> => {
  const envelope = { input, principal, client, idempotency_key: idempotencyKey };
  const isOfLane = contract.hasLanes === true && principal.kind !== 'none';
  const to = {
    responder: contract.name,
    subject: subjects.rpc(contract.name, name),
    lane: isOfLane ? laneOf(principal.account_id) : undefined,
  };
  const { ok, replayed, noted } = await request(bus, to, envelope, timeoutMs, { ...OF_BUILD, ...headers });
  if (replayed === true) onReplay?.();
  if (noted !== undefined) onNoted?.(noted);
  return ok;
};

/**
 * Whether a service serves its public operations. The error "no such operation" is an answer too.
 */
export const isServed = async (bus: Bus, contract: ServiceContract, timeoutMs: number): Promise<boolean> => {
  try {
    const to = { responder: contract.name, subject: subjects.rpc(contract.name, 'ping') };
    await request(bus, to, { input: {} }, timeoutMs);
  } catch (error) {
    return error instanceof ServiceError && error.code === 'not_found';
  }
  return true;
};
