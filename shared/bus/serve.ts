import { type Span, SpanKind } from '@opentelemetry/api';
import type { Msg, Subscription } from 'nats';
import type { z } from 'zod';
import { ServiceError } from '../contract/errors.ts';
import { Principal } from '../contract/principal.ts';
import type { Handlers, HttpOperation, InternalOperation, ServiceContract } from '../contract/service.ts';
import { type Clock, systemClock } from '../lib/clock.ts';
import { requireFresh } from '../lib/step-up.ts';
import { tell } from '../lib/trace.ts';
import { type Bus, track } from './connect.ts';
import { decode, encode, type ReplyEnvelope, type RequestEnvelope, toErrorReply } from './envelope.ts';
import { inBusSpan, REQUEST_ID } from './trace.ts';

type AnyHandler = (input: unknown, caller?: Principal) => Promise<unknown>;

/** Field paths and messages of a zod error; never the offending values, which may be secrets. */
export const issuesOf = (error: z.ZodError): { path: string; message: string }[] =>
  error.issues.slice(0, 20).map((issue) => ({
    path:
      issue.path.map(String).join('.') || (issue.code === 'unrecognized_keys' ? issue.keys.join(',') : ''),
    message: issue.message.slice(0, 200),
  }));

/** @throws ServiceError validation_error with the field paths. */
export const parseInput = <T>(schema: z.ZodType<T>, value: unknown): T => {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const details = issuesOf(parsed.error);
  const first = details[0];
  const where = first === undefined || first.path === '' ? '' : `${first.path}: `;
  throw new ServiceError('validation_error', `${where}${first?.message ?? 'invalid request'}`, { details });
};

const answer = async (
  operation: HttpOperation | InternalOperation,
  handler: AnyHandler,
  data: Uint8Array,
  now: Clock,
  span: Span,
) => {
  const envelope = decode(data) as RequestEnvelope;
  const checked = (schema: z.ZodType, value: unknown) => {
    const parsed = parseInput(schema, value);
    tell(span, parsed);
    return parsed;
  };
  const told = (result: unknown) => {
    const output = operation.output.parse(result);
    tell(span, output);
    return output;
  };
  if (!('access' in operation)) {
    return told(await handler(checked(operation.input, envelope.input)));
  }
  const caller = Principal.parse(envelope.principal);
  // The gateway refuses a wrong kind first; this is the second lock on the same door.
  const allowed =
    caller.kind === 'none' ? operation.access.length === 0 : operation.access.includes(caller.kind);
  if (!allowed) throw new ServiceError('forbidden', 'this kind of credential may not do this');
  // Before the input is looked at: who has to sign in again learns that first, whatever else is wrong.
  if (operation.stepUp === true && caller.kind === 'jwt') requireFresh(caller, now());
  return told(await handler(checked(operation.input, envelope.input), caller));
};

export type Serving = { stop: () => Promise<void> };

/**
 * Answers every operation of the contract: parse, await the handler, check the output, map errors. Replicas
 * share the work through a queue group. `stop` takes no more calls and waits for those in flight.
 * @param now epoch milliseconds of the clock that the age of a sign-in is told by: the database's where there is one
 */
export const serve = <S extends ServiceContract>(
  bus: Bus,
  contract: S,
  handlers: Handlers<S>,
  { now = systemClock }: { now?: Clock } = {},
): Serving => {
  const byName = handlers as unknown as Record<string, AnyHandler>;

  const handle = async (msg: Msg, operations: Record<string, HttpOperation | InternalOperation>) => {
    const name = msg.subject.slice(msg.subject.lastIndexOf('.') + 1);
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined;
    const handler = byName[name];
    const startedAt = performance.now();
    let reply: ReplyEnvelope;
    try {
      if (operation === undefined || handler === undefined)
        throw new ServiceError('not_found', 'no such operation');
      reply = {
        ok: await inBusSpan(
          { operation: 'process', destination: msg.subject, kind: SpanKind.SERVER, headers: msg.headers },
          (span) => answer(operation, handler, msg.data, now, span),
        ),
      };
    } catch (error) {
      reply = toErrorReply(error);
      const line = { operation: name, request_id: msg.headers?.get(REQUEST_ID), code: reply.error.code };
      if (reply.error.code === 'internal_error')
        bus.logger.error({ ...line, err: error }, 'operation failed');
      else if (!(error instanceof ServiceError)) bus.logger.warn({ ...line, err: error }, 'a server is away');
      else bus.logger.debug({ ...line, ms: Math.round(performance.now() - startedAt) }, 'operation refused');
    }
    msg.respond(encode(reply));
  };

  const subscribe = (
    kind: 'rpc' | 'int',
    operations: Record<string, HttpOperation | InternalOperation>,
  ): Subscription[] =>
    Object.keys(operations).length === 0
      ? []
      : [
          bus.nc.subscribe(`${kind}.${contract.name}.*`, {
            queue: contract.name,
            callback: (error, msg) => {
              if (error !== null) bus.logger.error({ err: error }, 'subscription failed');
              else track(bus, handle(msg, operations));
            },
          }),
        ];
  const subscriptions = [...subscribe('rpc', contract.operations), ...subscribe('int', contract.internal)];

  return {
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.drain()));
      await Promise.allSettled(bus.inFlight);
    },
  };
};
