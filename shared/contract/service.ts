import { z } from 'zod';
import type { AuthorisedBy } from './authority.ts';
import type { BrowserCookie, RefreshCookie } from './cookies.ts';
import type { Deprecation } from './deprecated.ts';
import type { DeviceAccess } from './device-access.ts';
import type { ErrorCode } from './errors.ts';
import type { CallKey, Idempotency } from './idempotency.ts';
import type { SecurityEventKind } from './identity/security-kinds.ts';
import type { Journey } from './journey.ts';
import type { Environment } from './primitives.ts';
import type { CredentialKind, PrincipalOf } from './principal.ts';
import type { BusUser, Program, ServiceName } from './service-names.ts';

/**
 * One declaration per operation. The gateway's route, the NATS subject and its rights, the
 * handler's type, the OpenAPI entry, the docs' endpoint map and the SDK method are derived from it.
 * The declaration is data, which tests, generators and people read without running a service.
 */

export { type BusUser, type Program, SERVICE_NAMES, type ServiceName } from './service-names.ts';

/**
 * A sliding window. `per` names whose calls are counted: those of the account with all its
 * credentials, of the caller's address, or of the value of a body field (in lower case, for
 * instance an e-mail address).
 */
export type Limit = {
  points: number;
  windowSeconds: number;
  per: 'account' | 'ip' | { field: string };
  /** Operations whose limits name the same bucket share one counter. */
  bucket?: string;
};

/**
 * What the gateway does for this operation while Redis is unavailable (docs/spec/decisions.md,
 * Limits).
 */
type WithoutRedis = 'in-process' | 'refuse';

/**
 * A window of the account for calls that are refused with `validation_error`. While it has a free
 * point, such a call counts in it and not in the operation's limits. It is for
 * calls whose content others decide.
 */
type RefusalWindow = Pick<Limit, 'points' | 'windowSeconds'>;

type HttpRoute = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: `/${string}`;
  status: 200 | 201 | 202 | 204;
  /**
   * Another success status, selected by a field of the answer: settle answers 202 while a payment
   * is pending.
   */
  alternative?: { status: 202; field: string; equals: string; retryAfterSeconds: number };
};

/** The source of a call's environment if no credential determines it. */
type EnvironmentSource = { field: string } | { prefixOf: string };

type Shape = z.ZodObject;
const none = z.strictObject({});

type OperationDefinition = {
  summary: string;
  description?: string;
  deprecated?: Deprecation;
  /** The journey whose objective counts its calls. `probe`: none, because 503 may be its answer. */
  journey: Journey | 'probe';
  http: HttpRoute;
  /** Credential kinds that may call; `[]`: no credential is needed. */
  access: readonly CredentialKind[];
  /**
   * What authorises the call beyond its credential. Every operation that is no GET declares it, and
   * so does a GET with `stepUp` (test/contract.test.ts).
   */
  authorisedBy?: AuthorisedBy;
  /**
   * The security events by which the owner of the account hears of the call. Every call with
   * `stepUp` has at least one, except a call that only prepares another (authority.test.ts).
   */
  notes?: readonly SecurityEventKind[];
  /**
   * A caller who is a person needs a sign-in of the last 5 minutes; keys do not
   * (docs/spec/decisions.md, Step-up). With `true`, `serve` checks it before the handler runs. With
   * `when`, the handler checks it for the changes that the texts name. Each names the event by
   * which the owner hears of that change.
   */
  stepUp?: true | { when: Readonly<Record<string, SecurityEventKind>> };
  /**
   * What of a write the sign-in of a device may call. The gateway checks it. Unset: nothing. Reads
   * (a GET without `stepUp`) are open to it.
   */
  fromDevice?: DeviceAccess;
  /**
   * Whether a frozen account may call this operation. `serve` checks it before the handler runs.
   * Unset: reads (GET) are served, everything else is refused. `handler`: the handler decides, for
   * the part that the text names.
   */
  whenFrozen?: 'served' | { handler: string };
  refreshCookie?: RefreshCookie;
  browserCookie?: BrowserCookie;
  environment?: EnvironmentSource;
  /**
   * Set if the operation exists in some environments only. A credential of another environment gets
   * 403.
   */
  onlyIn?: readonly Environment[];
  limits?: readonly Limit[];
  refusalsApart?: RefusalWindow;
  withoutRedis?: WithoutRedis;
  params?: Shape;
  query?: Shape;
  body?: Shape;
  /**
   * True if the body must not be parsed, because a signature covers its bytes. The gateway passes
   * the request as `RawBody` (primitives.ts), which is then the operation's `body`.
   */
  rawBody?: true;
  /**
   * A POST that a client may repeat after a lost answer, because the repeat has no effect: always,
   * or if the named field of the body identifies the repeat. A GET may always be repeated.
   */
  repeatable?: true | { with: string };
  /**
   * A POST that would create a second object when repeated. It accepts the header Idempotency-Key,
   * and its handler records the call in the transaction that creates the object
   * (shared/idempotency/store.ts). All other operations ignore the header, because their repeats
   * have no effect.
   */
  idempotency?: Idempotency;
  /** True for a GET of the gateway whose answer is a document that any page may read. */
  isDocument?: true;
  /**
   * Values of the body that mean the same as their absence. A repeat with an Idempotency-Key may
   * spell them out or leave them out.
   */
  defaults?: Readonly<Record<string, unknown>>;
  /** True if an absent body is read as `{}` (verify, logout). */
  bodyOptional?: true;
  output: z.ZodType;
  /** Error codes of this operation. `errorsOf` adds the codes that every operation can answer. */
  errors: readonly ErrorCode[];
  /**
   * Set if the errors carry `money_moved` and `safe_action`. `prepares`: the call itself moves no
   * money, so a refusal reports `no`. `moves`: this call or an earlier one with the same ids may
   * have moved money, so only the service that owns the record may report anything but `unknown`.
   */
  money?: 'prepares' | 'moves';
  /** With `moves`: a call without one of these fields, or with another form, was never accepted. */
  namedBy?: readonly string[];
  /**
   * The protocol whose fields an error has beside ours (services/gateway/http/dialects.ts). A
   * settle of x402 whose outcome is unknown is answered without JSON.
   */
  dialect?: 'x402Verify' | 'x402Settle' | 'solanaPay';
  /**
   * The gateway repeats the call for so long, while a field of the answer has this value or the
   * outcome is unknown. Each call waits for `timeoutSeconds`, so that a service that dies costs one
   * of them.
   */
  repeatsWhile?: { field: string; equals: string; seconds: number };
  /**
   * True if the gateway confirms to the service that the answer was sent: `extra.quittance` of the
   * answer names the settlement and the hand-out.
   */
  confirmsHandOut?: true;
  /**
   * How long the gateway waits for the service: 20 if the service itself waits for the chain.
   * Default 5.
   */
  timeoutSeconds?: number;
};

export type HttpOperation = OperationDefinition & {
  params: Shape;
  query: Shape;
  body: Shape;
  input: Shape;
  limits: readonly Limit[];
  withoutRedis: WithoutRedis;
  timeoutSeconds: number;
};

const READ: Omit<Limit, 'per'> = { points: 120, windowSeconds: 60 };
const WRITE: Omit<Limit, 'per'> = { points: 30, windowSeconds: 60 };

/** The fields of one part of a definition, or none if the part is absent. */
type FieldsOf<D, Part extends string> = D extends { [K in Part]: infer P extends Shape }
  ? P['shape']
  : Record<never, never>;
type InputOf<D> = z.ZodObject<
  FieldsOf<D, 'params'> & FieldsOf<D, 'query'> & FieldsOf<D, 'body'>,
  z.core.$strict
>;

/**
 * An operation of the public API. The default limits are those of docs/spec/decisions.md: 120 reads
 * or 30 writes a minute, per account, or per address if there is no credential.
 */
export const operation = <const D extends OperationDefinition>(definition: D) => {
  const {
    params = none,
    query = none,
    body = none,
    withoutRedis = 'in-process',
    timeoutSeconds = 5,
  } = definition as OperationDefinition;
  const per = definition.access.length === 0 ? 'ip' : 'account';
  const fallback = { ...(definition.http.method === 'GET' ? READ : WRITE), per } as const;
  return {
    ...definition,
    params: params as Shape,
    query: query as Shape,
    body: body as Shape,
    /**
     * The input of a handler: the path, query and body fields in one object. A tidy test checks
     * that no names collide.
     */
    input: z.strictObject({ ...params.shape, ...query.shape, ...body.shape }) as unknown as InputOf<D>,
    limits: (definition.limits ?? [fallback]) as readonly Limit[],
    withoutRedis: withoutRedis as WithoutRedis,
    timeoutSeconds: timeoutSeconds as number,
  };
};

/**
 * An operation between services. It has no principal, and only the named users may call it
 * (enforced by NATS rights).
 */
export type InternalOperation = {
  summary: string;
  callers: readonly BusUser[];
  /**
   * Periodic work calls it, and it writes nothing, so the process that answers may stay quiet
   * (shared/lib/activity.ts).
   */
  leavesNothing?: true;
  /** The handler gets the caller with the input. It is the one whose inbox gets the answer. */
  namesCaller?: true;
  input: Shape;
  output: z.ZodType;
};
export const internalOperation = <const D extends InternalOperation>(definition: D): D => definition;

/**
 * An internal operation that only operators call. `serve` adds the operator's name to the input, as
 * the server has verified it.
 */
export const operatorOperation = <Input extends Shape, Output extends z.ZodType>(definition: {
  summary: string;
  input: Input;
  output: Output;
}) => ({ ...definition, callers: ['operator'] as const });

/** Whether only operators call an operation. */
export const isForOperators = ({ callers }: InternalOperation): boolean => callers.includes('operator');

/** The name of an operator, as it is in the subjects of the calls. */
export const OperatorName = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must have 1 to 32 characters of a-z 0-9 -, a letter first');

/** A unit of work on the work-queue stream, published by the named services. */
type Job = {
  summary: string;
  producers: readonly ServiceName[];
  payload: z.ZodType;
  /** True if the job is handed over to the owner of a lane, and stored only if that fails. */
  handedOver?: true;
};

export type ServiceContract = {
  name: Program;
  operations: Record<string, HttpOperation>;
  internal: Record<string, InternalOperation>;
  /** The events that this service publishes, by name: `evt.<service>.<event>` (events.ts). */
  events: Record<string, z.ZodType>;
  /** Jobs this service accepts, by name: `job.<service>.<job>`. */
  jobs: Record<string, Job>;
  /** Events of other services that it subscribes to, as `<service>.<event>`. */
  consumes: readonly `${ServiceName}.${string}`[];
  /** Events that every instance receives live, to invalidate caches. It may miss some. */
  subscribesLive?: readonly `${ServiceName}.${string}`[];
  /**
   * Those of `consumes` that the publisher hands over to the replica that waits for them, and
   * stores only if it does not answer.
   */
  handedOver?: readonly `${ServiceName}.${string}`[];
  /**
   * True if its replicas own lanes (docs/adr/0070). The calls of an account and the jobs that are
   * handed over go to the owner of the account's lane.
   */
  hasLanes?: true;
};

/**
 * Declares one service. Its name is its folder, contract file, subject token, schema and manifest.
 */
export const service = <const D extends ServiceContract>(definition: D): D => definition;

// ---------- derived types ----------

type OperationName<S extends ServiceContract> = string & keyof S['operations'];
export type InternalName<S extends ServiceContract> = string & keyof S['internal'];
export type EventOf<S extends ServiceContract> = string & keyof S['events'];
export type JobOf<S extends ServiceContract> = string & keyof S['jobs'];

/** What the handler of an internal operation gets beside the input. */
type Sender<Op> = Op extends { namesCaller: true } ? { caller: BusUser } : unknown;

export type Handler<Op> = Op extends {
  access: infer A extends readonly CredentialKind[];
  input: infer I;
  output: infer O;
}
  ? (
      input: z.infer<I>,
      caller: PrincipalOf<A>,
      ...call: Op extends { idempotency: Idempotency } ? [key?: CallKey] : []
    ) => Promise<z.infer<O>>
  : Op extends { callers: readonly ['operator']; input: infer I; output: infer O }
    ? (input: z.infer<I> & { actor: string }) => Promise<z.infer<O>>
    : Op extends { callers: readonly BusUser[]; input: infer I; output: infer O }
      ? (input: z.infer<I> & Sender<Op>) => Promise<z.infer<O>>
      : never;

/** Every operation of a service with its handler. A missing handler does not compile. */
export type Handlers<S extends ServiceContract> = {
  [K in OperationName<S>]: Handler<S['operations'][K]>;
} & { [K in InternalName<S>]: Handler<S['internal'][K]> };

// ---------- derived names ----------

export const subjects = {
  rpc: (service: BusUser, operation: string) => `rpc.${service}.${operation}`,
  internal: (service: BusUser, operation: string) => `int.${service}.${operation}`,
  /** A call of an operator. Only the user with this name may publish it. */
  operator: (name: string, service: BusUser, operation: string) => `op.${name}.${service}.${operation}`,
  event: (service: BusUser, event: string) => `evt.${service}.${event}`,
  job: (service: BusUser, job: string) => `job.${service}.${job}`,
  /**
   * Core NATS, which may lose messages: wakes the replica that holds a waiting request, which then
   * reads the row.
   */
  wake: (service: BusUser, key: string) => `wake.${service}.${key}`,
  /** A call that the owner of a lane answers. */
  lane: (subject: string, lane: number) => `${subject}.${lane}`,
  /**
   * Core NATS, answered: a job for the owner of a lane, or events for a replica. What nobody
   * answers is published to its stream.
   * @param receiver a lane or a replica
   */
  handedOver: (service: BusUser, name: string, receiver: number | string) =>
    `hand.${service}.${name}.${receiver}`,
};

export const EVENT_PREFIX = 'evt.';
export const isEventSubject = (subject: string): boolean => subject.startsWith(EVENT_PREFIX);

/** Whether a frozen account is refused before the handler runs. */
export const isRefusedWhenFrozen = ({
  http,
  whenFrozen,
}: Pick<HttpOperation, 'http' | 'whenFrozen'>): boolean => http.method !== 'GET' && whenFrozen === undefined;

const EVERYWHERE = ['validation_error', 'rate_limited', 'internal_error', 'service_unavailable'] as const;

/** The changes for which a call needs a recent sign-in. Undefined: all, or none. */
export const stepUpReason = ({ stepUp }: Pick<HttpOperation, 'stepUp'>): string | undefined =>
  stepUp === undefined || stepUp === true ? undefined : Object.keys(stepUp.when).join(', or ');

/** All error codes that an operation can answer, its own first. */
export const errorsOf = (op: HttpOperation): ErrorCode[] => {
  const codes = new Set<ErrorCode>(op.errors);
  if (op.access.length > 0) {
    codes.add('unauthorized');
    codes.add('forbidden');
  }
  if (op.idempotency !== undefined) {
    codes.add('conflict');
    codes.add('idempotency_mismatch');
  }
  if (op.stepUp) codes.add('reauthentication_required');
  if (op.http.method !== 'GET') {
    codes.add('payload_too_large');
    codes.add('unsupported_media_type');
  }
  for (const code of EVERYWHERE) codes.add(code);
  return [...codes];
};
