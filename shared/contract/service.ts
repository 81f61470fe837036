import { z } from 'zod';
import type { ErrorCode } from './errors.ts';
import type { CallKey, Idempotency } from './idempotency.ts';
import type { Environment } from './primitives.ts';
import type { CredentialKind, PrincipalOf } from './principal.ts';

/**
 * One declaration per operation. From it are derived: the gateway's route, the NATS subject and its rights,
 * the handler's type, the OpenAPI entry, the docs' endpoint map and the SDK method. Everything is data, so a
 * test, a generator or a person can read it without running anything.
 */

export const SERVICE_NAMES = [
  'quote',
  'settlement',
  'wallet',
  'funding',
  'identity',
  'chain-submitter',
  'webhook',
] as const;
/** Services with a schema and handlers. The gateway stands apart: it has no tables and no operations. */
export type ServiceName = (typeof SERVICE_NAMES)[number];
/** Every process of the product. */
export type Program = ServiceName | 'gateway';
/**
 * Everything that holds a NATS user. `operator` is a person at `npm run ops`: it serves and
 * subscribes to nothing.
 */
export type BusUser = Program | 'operator';

/**
 * A true sliding window. `per` says whose calls are counted together: the account over all its credentials,
 * the caller's address, or the value of a body field (lower-cased, for instance an e-mail address).
 */
export type Limit = {
  points: number;
  windowSeconds: number;
  per: 'account' | 'ip' | { field: string };
  /** Operations whose limits name the same bucket are counted together. */
  bucket?: string;
};

/**
 * What the gateway does for this operation while Redis is away (docs/spec/decisions.md, Limits).
 */
type WithoutRedis = 'in-process' | 'refuse';

type HttpRoute = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: `/${string}`;
  status: 200 | 201 | 202 | 204;
  /** Another success status, chosen by a field of the answer: settle's 202 while a payment is pending. */
  alternative?: { status: 202; field: string; equals: string; retryAfterSeconds: number };
};

/**
 * The refresh token of a browser (docs/spec/decisions.md, Sign-in): `give` may put it in the
 * cookie, `exchange` takes it from there and puts the next one back, `clear` removes it.
 */
type RefreshCookie = 'give' | 'exchange' | 'clear';

/**
 * The nonce of a browser that asks for a sign-in link: `give` puts one into the body and into a cookie of the page, `show`
 * puts that of the cookie into the body.
 */
type BrowserCookie = 'give' | 'show';

/** Where the environment of a call comes from when no credential tells it. */
type EnvironmentSource = { field: string } | { prefixOf: string };

type Shape = z.ZodObject;
const none = z.strictObject({});

type OperationDefinition = {
  summary: string;
  description?: string;
  http: HttpRoute;
  /** Credential kinds that may call; `[]`: none is needed. */
  access: readonly CredentialKind[];
  /**
   * Needs a sign-in of the last 5 minutes where the caller is a person: keys have no age
   * (docs/spec/decisions.md, Step-up). `true` is checked by `serve` before the handler runs; with
   * `when` the handler does it, for the change that the text names.
   */
  stepUp?: true | { when: string };
  /**
   * What a frozen account gets from this operation; checked by `serve` before the handler runs. Unset: reads (GET) are
   * served, everything else is refused. `handler`: the handler decides, for the part that the text names.
   */
  whenFrozen?: 'served' | { handler: string };
  refreshCookie?: RefreshCookie;
  browserCookie?: BrowserCookie;
  environment?: EnvironmentSource;
  /** Set where the operation exists in some environments only; a credential of another gets 403. */
  onlyIn?: readonly Environment[];
  limits?: readonly Limit[];
  withoutRedis?: WithoutRedis;
  params?: Shape;
  query?: Shape;
  body?: Shape;
  /**
   * True where the body is not ours to parse because a signature covers its bytes: the gateway hands on what
   * came as `RawBody` (primitives.ts), which is then the operation's `body`.
   */
  rawBody?: true;
  /**
   * A POST that a client may send again when its answer was lost, because nothing happens twice: always, or when the
   * named field of the body is there to know the repeat by. A GET always may.
   */
  repeatable?: true | { with: string };
  /**
   * A POST that would create a second thing when repeated: it takes the header Idempotency-Key, and its handler records
   * the call in the commit that creates (shared/idempotency/store.ts). All others ignore the header, since they are harmless.
   */
  idempotency?: Idempotency;
  /** True where an absent body counts as `{}` (verify, logout). */
  bodyOptional?: true;
  output: z.ZodType;
  /** Codes of its own; those that every operation can answer are added by `errorsOf`. */
  errors: readonly ErrorCode[];
  /**
   * Its errors carry `money_moved` and `safe_action`. `prepares`: nothing moves by the call itself, so a refusal says `no`.
   * `moves`: this call or an earlier one with the same ids may have moved money, so only the service that owns the record
   * says anything but `unknown`.
   */
  money?: 'prepares' | 'moves';
  /** How long the gateway waits for the service; 20 where the service itself waits for the chain. Default 5. */
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

/** The fields of one part of a definition, none when the part is absent. */
type FieldsOf<D, Part extends string> = D extends { [K in Part]: infer P extends Shape }
  ? P['shape']
  : Record<never, never>;
type InputOf<D> = z.ZodObject<
  FieldsOf<D, 'params'> & FieldsOf<D, 'query'> & FieldsOf<D, 'body'>,
  z.core.$strict
>;

/**
 * An operation of the public API. Unset limits are the defaults of docs/spec/decisions.md: 120
 * reads or 30 writes a minute per account, per address where there is no credential.
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
    /** What a handler receives: path, query and body fields side by side (names never collide: tidy test). */
    input: z.strictObject({ ...params.shape, ...query.shape, ...body.shape }) as unknown as InputOf<D>,
    limits: (definition.limits ?? [fallback]) as readonly Limit[],
    withoutRedis: withoutRedis as WithoutRedis,
    timeoutSeconds: timeoutSeconds as number,
  };
};

/** An operation between services: no principal, callable by the named users alone (NATS rights enforce it). */
export type InternalOperation = {
  summary: string;
  callers: readonly BusUser[];
  input: Shape;
  output: z.ZodType;
};
export const internalOperation = <Input extends Shape, Output extends z.ZodType>(definition: {
  summary: string;
  callers: readonly BusUser[];
  input: Input;
  output: Output;
}) => definition;

/** A unit of work on the work-queue stream, put there by the named services. */
type Job = { summary: string; producers: readonly ServiceName[]; payload: z.ZodType };

export type ServiceContract = {
  name: Program;
  operations: Record<string, HttpOperation>;
  internal: Record<string, InternalOperation>;
  /**
   * Events this service publishes, by name: `evt.<service>.<event>`; what makes one the same event:
   * events.ts.
   */
  events: Record<string, z.ZodType>;
  /** Jobs this service accepts, by name: `job.<service>.<job>`. */
  jobs: Record<string, Job>;
  /** Events of others that it subscribes to, as `<service>.<event>`. */
  consumes: readonly `${ServiceName}.${string}`[];
  /**
   * Events that reach every instance as they happen, without a record of what it missed: caches
   * forget by them.
   */
  subscribesLive?: readonly `${ServiceName}.${string}`[];
};

/** Declares one service. Its name is its folder, contract file, subject token, schema and manifest. */
export const service = <const D extends ServiceContract>(definition: D): D => definition;

// ---------- derived types ----------

type OperationName<S extends ServiceContract> = string & keyof S['operations'];
export type InternalName<S extends ServiceContract> = string & keyof S['internal'];
export type EventOf<S extends ServiceContract> = string & keyof S['events'];
export type JobOf<S extends ServiceContract> = string & keyof S['jobs'];

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
  : Op extends { callers: readonly BusUser[]; input: infer I; output: infer O }
    ? (input: z.infer<I>) => Promise<z.infer<O>>
    : never;

/** Every operation of a service, each with its handler: leaving one out does not compile. */
export type Handlers<S extends ServiceContract> = {
  [K in OperationName<S>]: Handler<S['operations'][K]>;
} & { [K in InternalName<S>]: Handler<S['internal'][K]> };

// ---------- derived names ----------

export const subjects = {
  rpc: (service: BusUser, operation: string) => `rpc.${service}.${operation}`,
  internal: (service: BusUser, operation: string) => `int.${service}.${operation}`,
  event: (service: BusUser, event: string) => `evt.${service}.${event}`,
  job: (service: BusUser, job: string) => `job.${service}.${job}`,
  /** Core NATS, lossy by design: tells the replica that holds a waiting request to read the row. */
  wake: (service: BusUser, key: string) => `wake.${service}.${key}`,
};

/** Whether a frozen account is refused before the handler runs. */
export const isRefusedWhenFrozen = ({
  http,
  whenFrozen,
}: Pick<HttpOperation, 'http' | 'whenFrozen'>): boolean => http.method !== 'GET' && whenFrozen === undefined;

const EVERYWHERE = ['validation_error', 'rate_limited', 'internal_error', 'service_unavailable'] as const;

/** All codes an operation can answer, its own first. */
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
