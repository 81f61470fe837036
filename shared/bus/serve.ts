import { type Span, SpanKind } from '@opentelemetry/api';
import type { Msg, Subscription } from 'nats';
import type { z } from 'zod';
import { Client } from '../contract/client.ts';
import { accountFrozen, notFound, ofAnotherVersion, ServiceError } from '../contract/errors.ts';
import type { CallKey, Idempotency } from '../contract/idempotency.ts';
import { inputIssues } from '../contract/issues.ts';
import { Principal } from '../contract/principal.ts';
import { parseKnown } from '../contract/read.ts';
import {
  type BusUser,
  type Handlers,
  type HttpOperation,
  type InternalOperation,
  isForOperators,
  isRefusedWhenFrozen,
  type ServiceContract,
  subjects,
} from '../contract/service.ts';
import { withClient } from '../lib/call-client.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { type LaneOwnership, whileOwned } from '../lib/lane.ts';
import { recordIds, traceIdOf } from '../lib/telemetry/trace.ts';
import { buildName } from '../lib/telemetry/version.ts';
import { requireFresh } from '../lib/tokens/step-up.ts';
import { type CallKind, type CallLine, createCallLog } from './call-log.ts';
import { type Bus, track } from './connect.ts';
import {
  type Answered,
  decode,
  encode,
  type NotedIds,
  type ReplyEnvelope,
  type RequestEnvelope,
  toErrorReply,
} from './envelope.ts';
import { answeredInboxes, callerOf, replyInbox } from './topology.ts';
import { BUILD, contextOfHeaders, inBusSpan, inCall, REQUEST_ID } from './trace.ts';

type Operation = HttpOperation | InternalOperation;
type AnyHandler = (input: unknown, caller?: Principal, key?: CallKey) => Promise<unknown>;

/**
 * The input as the schema describes it. The message names one cause, `details` all of them.
 * @throws ServiceError validation_error with the field paths
 */
export const parseInput = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = inputIssues(schema, value);
  const [first = { path: '', message: 'the request is not valid' }] = details;
  const where = first.path === '' ? '' : `${first.path}: `;
  throw new ServiceError('validation_error', `${where}${first.message}`, { details });
};

/**
 * A call with an Idempotency-Key.
 * @param input the parsed input, because the raw body can have several spellings of one call
 */
export type KeyedCall = {
  operation: string;
  idempotency: Idempotency;
  output: z.ZodType;
  key: string;
  caller: Principal;
  input: unknown;
  /** Values of the input that mean the same as their absence. */
  defaults: Readonly<Record<string, unknown>>;
};
/**
 * Answers a call from an earlier one with its key, otherwise by `work`
 * (shared/idempotency/calls.ts).
 */
export type IdempotentCalls = (
  call: KeyedCall,
  work: (key: CallKey) => Promise<unknown>,
) => Promise<Answered>;

/** Who has sent a call of an internal operation: an operator, or a service. */
type Sender = {
  actor: string | undefined;
  caller: BusUser | undefined;
  /** A process of another build, which may know what this one does not. */
  isOfOtherBuild: boolean;
};

/** What the handler of an internal operation learns of the sender, beside the input. */
const senderFields = (
  operation: InternalOperation,
  { actor, caller }: Sender,
): Pick<Partial<Sender>, 'actor' | 'caller'> => ({
  ...(actor !== undefined && { actor }),
  ...(operation.namesCaller === true && { caller }),
});

/**
 * What reads a call. The sender has read it by the contract of its build, so a call of another
 * build that is refused here is not wrong. It is answered when this process is replaced.
 */
const readCall = <T>({ isOfOtherBuild }: Sender, read: () => T): T => {
  try {
    return read();
  } catch (error) {
    throw isOfOtherBuild && error instanceof ServiceError ? ofAnotherVersion() : error;
  }
};

type Options = { now: Clock; calls: IdempotentCalls | undefined };

const answer = async (
  {
    name,
    operation,
    handler,
    sender,
  }: { name: string; operation: Operation; handler: AnyHandler; sender: Sender },
  data: Uint8Array,
  { now, calls }: Options,
  span: Span,
  line: CallLine,
): Promise<Answered> => {
  const envelope = decode(data) as RequestEnvelope;
  const checked = (given: unknown) => {
    line.input = readCall(sender, () => parseInput<unknown>(operation.input, given));
    recordIds(span, line.input);
    return line.input;
  };
  const reported = (result: unknown) => {
    line.output = operation.output.parse(result);
    recordIds(span, line.output);
    return line.output;
  };
  if (!('access' in operation)) {
    const input = checked(envelope.input);
    // Last, so that no field of the input can take its place.
    return { ok: reported(await handler({ ...(input as object), ...senderFields(operation, sender) })) };
  }
  const caller = parseKnown(Principal, envelope.principal);
  const client = parseKnown(Client.optional(), envelope.client) ?? null;
  if (caller.kind !== 'none') line.fields.account_id = caller.account_id;
  // The gateway has refused a wrong kind already. This check does not depend on it.
  const allowed =
    caller.kind === 'none' ? operation.access.length === 0 : operation.access.includes(caller.kind);
  if (!allowed) throw new ServiceError('forbidden', 'this kind of credential may not do this');
  if (caller.kind !== 'none' && caller.frozen && isRefusedWhenFrozen(operation))
    throw accountFrozen({ safe_action: 'stop' });
  // Before the input is parsed: a caller that has to sign in again gets this error first.
  if (operation.stepUp === true && caller.kind === 'jwt')
    // What the contract opens to a device needs a recent sign-in of it, too.
    requireFresh(operation.fromDevice === undefined ? caller : { auth_time: caller.auth_time }, now());
  const input = checked(envelope.input);
  if (operation.idempotency === undefined || envelope.idempotency_key === undefined) {
    return { ok: reported(await withClient(client, () => handler(input, caller))) };
  }
  if (calls === undefined)
    throw new Error(`${name} takes an Idempotency-Key, so service.ts must pass \`calls\``);
  const { idempotency, output, defaults = {} } = operation;
  return calls(
    { operation: name, idempotency, output, key: envelope.idempotency_key, caller, input, defaults },
    async (key) => reported(await withClient(client, () => handler(input, caller, key))),
  );
};

/**
 * False if the answer cannot be sent. An answer over the maximum message size fails its own call,
 * not the process.
 */
const respond = (bus: Bus, msg: Msg, reply: ReplyEnvelope): boolean => {
  try {
    return msg.respond(encode(reply));
  } catch (error) {
    bus.logger.error({ operation: msg.subject, err: error }, 'answer not sent');
    return false;
  }
};

/**
 * The operator who calls, from the subject. The server lets a user publish only on subjects with
 * the user's own name.
 */
const operatorOf = ({ subject }: Msg): string => subject.split('.')[1]!;

const nameOf = ({ subject }: Msg): string => {
  const tokens = subject.split('.');
  // A lane may follow the name.
  return tokens[tokens[0] === 'op' ? 3 : 2]!;
};

const leavesNothing = (operation: Operation | undefined): boolean =>
  operation !== undefined && 'callers' in operation && operation.leavesNothing === true;

/** The line of a call that begins, for what is known then. */
const lineOf = (contract: ServiceContract, msg: Msg, kind: CallKind): CallLine => ({
  fields: {
    ...(kind === 'op' && { actor: operatorOf(msg) }),
    request_id: msg.headers?.get(REQUEST_ID) || undefined,
    trace_id: undefined,
    operation: `${contract.name}.${nameOf(msg)}`,
  },
  ms: 0,
});

/** Passes on the requests of a kind whose answer goes into the inbox of a caller. */
const subscribeTo = (
  bus: Bus,
  contract: ServiceContract,
  { kind, lane }: { kind: CallKind; lane: number | undefined },
  accept: (msg: Msg) => void,
): Subscription => {
  const { name } = contract;
  const fixed = kind === 'op' ? [] : answeredInboxes(contract, kind);
  const inboxesOf = (msg: Msg) =>
    kind === 'op' ? [`${replyInbox('operator', name, operatorOf(msg))}.`] : fixed;
  const subject = kind === 'op' ? `op.*.${name}.*` : `${kind}.${name}.*`;
  return bus.nc.subscribe(lane === undefined ? subject : subjects.lane(subject, lane), {
    queue: contract.name,
    callback: (error, msg) => {
      if (error !== null) bus.logger.error({ err: error }, 'subscription failed');
      else if (inboxesOf(msg).some((inbox) => msg.reply?.startsWith(inbox))) accept(msg);
      else bus.logger.error({ operation: msg.subject }, 'request refused: its reply is no inbox of a caller');
    },
  });
};

/** The operations that operators call, and those that services call. */
const byCaller = (internal: ServiceContract['internal']) => {
  const those = (wanted: boolean) =>
    Object.fromEntries(Object.entries(internal).filter(([, one]) => isForOperators(one) === wanted));
  return { operators: those(true), services: those(false) };
};

export type Serving = { stop: () => Promise<void> };

/** Passes on all calls of a service, and those of the lanes that this replica owns. */
const subscribeAll = (
  bus: Bus,
  contract: ServiceContract,
  lanes: LaneOwnership | undefined,
  accept: (kind: CallKind, operations: Record<string, Operation>, msg: Msg) => void,
): Serving => {
  const subscribe = (kind: CallKind, operations: Record<string, Operation>, lane?: number): Subscription[] =>
    Object.keys(operations).length === 0
      ? []
      : [subscribeTo(bus, contract, { kind, lane }, (msg) => accept(kind, operations, msg))];
  const drain = async (those: readonly Subscription[]): Promise<void> =>
    void (await Promise.all(those.map((subscription) => subscription.drain())));
  const { operators, services } = byCaller(contract.internal);
  const subscriptions = [
    ...subscribe('rpc', contract.operations),
    ...subscribe('int', services),
    ...subscribe('op', operators),
  ];
  const ofLanes =
    lanes &&
    whileOwned(lanes, (lane) => {
      const own = subscribe('rpc', contract.operations, lane);
      return { stop: () => drain(own) };
    });
  return {
    stop: async () => {
      await Promise.all([drain(subscriptions), ofLanes?.stop()]);
      await Promise.allSettled(bus.inFlight);
    },
  };
};

/**
 * Answers every operation of the contract: parses the input, calls the handler, checks the output
 * and maps errors. Replicas share the work through a queue group. `stop` ends the subscriptions and
 * waits for open calls.
 * @param now epoch milliseconds of the clock for the age of a sign-in: the database's clock if
 *   there is one
 * @param calls answers calls with an Idempotency-Key, for a service with such operations
 * @param lanes those whose calls reach this replica first
 */
export const serve = <S extends ServiceContract>(
  bus: Bus,
  contract: S,
  handlers: Handlers<S>,
  {
    now = systemClock,
    calls: keyed,
    lanes,
  }: { now?: Clock; calls?: IdempotentCalls; lanes?: LaneOwnership } = {},
): Serving => {
  const byName = handlers as unknown as Record<string, AnyHandler>;
  const log = createCallLog(bus.logger);

  const handle = async (kind: CallKind, msg: Msg, operations: Record<string, Operation>) => {
    const name = nameOf(msg);
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    const handler = byName[name];
    const startedAt = performance.now();
    const sentBy = msg.headers?.get(BUILD);
    const sender: Sender = {
      isOfOtherBuild: kind !== 'op' && sentBy !== undefined && sentBy !== '' && sentBy !== buildName,
      actor: kind === 'op' ? operatorOf(msg) : undefined,
      caller: kind === 'int' ? callerOf(contract, msg.reply!) : undefined,
    };
    const line = lineOf(contract, msg, kind);
    const noted: NotedIds = {};
    let reply: ReplyEnvelope;
    let failure: Parameters<typeof log>[2];
    try {
      if (operation === undefined || handler === undefined)
        throw sender.isOfOtherBuild ? ofAnotherVersion() : notFound('operation');
      const { ok, replayed } = await inBusSpan(
        {
          operation: 'process',
          destination: kind === 'rpc' ? subjects.rpc(contract.name, name) : msg.subject,
          kind: SpanKind.SERVER,
          received: contextOfHeaders(msg.headers),
        },
        (span) => {
          line.fields.trace_id = traceIdOf(span);
          const answered = () =>
            answer({ name, operation, handler, sender }, msg.data, { now, calls: keyed }, span, line);
          return inCall({ requestId: line.fields.request_id, noted }, answered);
        },
      );
      reply = { ok, ...(replayed && { replayed }), ...(noted.quote_id !== undefined && { noted }) };
    } catch (error) {
      const refusal = toErrorReply(error);
      failure = { error, code: refusal.error.code };
      reply = refusal;
    }
    if (!respond(bus, msg, reply)) respond(bus, msg, toErrorReply(null));
    line.ms = performance.now() - startedAt;
    Object.assign(line.fields, noted);
    log(kind, line, failure);
  };

  return subscribeAll(bus, contract, lanes, (kind, operations, msg) =>
    track(bus, handle(kind, msg, operations), leavesNothing(operations[nameOf(msg)])),
  );
};
