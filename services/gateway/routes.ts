import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseInput } from '../../shared/bus/serve.ts';
import { invalid, ServiceError } from '../../shared/contract/errors.ts';
import { IDEMPOTENCY_KEY, IDEMPOTENT_REPLAYED, IdempotencyKey } from '../../shared/contract/idempotency.ts';
import { contractList, gateway } from '../../shared/contract/index.ts';
import type { Handlers, HttpOperation, ServiceContract } from '../../shared/contract/service.ts';
import { addressGroup } from './address.ts';
import { parseBody, rawBodyOf } from './body.ts';
import { withBrowser } from './browser-cookie.ts';
import { type Authenticated, authorize } from './credentials.ts';
import type { Deps } from './deps.ts';
import { answerOf, forward } from './forward.ts';
import { environments } from './handlers/environments.ts';
import { health } from './handlers/health.ts';
import { jwks } from './handlers/jwks.ts';
import { ready } from './handlers/ready.ts';
import type { Origin } from './proxies.ts';
import { admit, type Quota } from './quota.ts';
import { intoCookie, withCookie } from './refresh-cookie.ts';
import { createSlidingWindow } from './sliding-window.ts';
import { inCallSpan } from './trace.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: HttpOperation;
  }
  interface FastifyRequest {
    caller: Authenticated | null;
    /** Its limits have counted this call. */
    counted: boolean;
    origin: Origin;
  }
}

const DEFAULT_ENVIRONMENT = 'test';

/** Fields of a call as they came, all parts side by side: names never collide (contract test). */
type RawInput = Record<string, unknown>;

type Route = { contract: ServiceContract; name: string; operation: HttpOperation };

/** The environment that a call without credential names, in a field or in the prefix of its token. */
const environmentNameOf = ({ environment }: HttpOperation, input: RawInput): string => {
  if (environment === undefined) return DEFAULT_ENVIRONMENT;
  if ('field' in environment) {
    const value = input[environment.field];
    return typeof value === 'string' ? value : DEFAULT_ENVIRONMENT;
  }
  const token = input[environment.prefixOf];
  return /^[a-z]+_(test|live)_/.exec(typeof token === 'string' ? token : '')?.[1] ?? DEFAULT_ENVIRONMENT;
};

/** Each part by its own strict schema: a field in the wrong place is unknown there. Nothing is coerced. */
const validated = (operation: HttpOperation, request: FastifyRequest, body: RawInput): RawInput => ({
  ...parseInput(operation.params, request.params ?? {}),
  ...parseInput(operation.query, request.query ?? {}),
  ...parseInput(operation.body, body),
});

/**
 * The key of a call that takes one. Elsewhere the header says nothing: those calls do nothing twice. One that came twice
 * has a space in it, so it is refused.
 */
const keyOf = ({ idempotency }: HttpOperation, { headers }: FastifyRequest): string | undefined => {
  const given = headers[IDEMPOTENCY_KEY];
  if (idempotency === undefined || given === undefined) return undefined;
  const key = IdempotencyKey.safeParse(given);
  if (key.success) return key.data;
  const message = key.error.issues[0]!.message;
  throw new ServiceError('validation_error', `Idempotency-Key: ${message}`, {
    details: [{ path: IDEMPOTENCY_KEY, message }],
  });
};

const rawInputOf = (request: FastifyRequest, body: RawInput): RawInput => ({
  ...(request.query as RawInput),
  ...body,
  ...(request.params as RawInput),
});

/**
 * The routes of the whole API, derived from the contract in one loop. For each call in this order: credential
 * (before the body is read), limits, validation, forward. What is refused before the limits (403, 413, 415) is
 * counted on its way out: failed calls count too (docs/spec/decisions.md, Limits).
 */
export const registerRoutes = (app: FastifyInstance, deps: Deps): void => {
  const own: Handlers<typeof gateway> = {
    health: health(deps),
    ready: ready(deps),
    jwks: jwks(deps),
    environments: environments(deps),
  };
  const ownHandlers = own as unknown as Record<string, (input: unknown, caller: unknown) => Promise<unknown>>;
  const ownWindow = createSlidingWindow();

  const countOwn = (name: string, { limits }: HttpOperation, ip: string): Quota[] =>
    limits.map(({ points, windowSeconds, per }) => ({
      ...{ points, windowSeconds, per },
      ...ownWindow.take(`${name}:${addressGroup(ip)}`, points, windowSeconds),
    }));

  const countForwarded = ({ contract, name, operation }: Route, request: FastifyRequest, input: RawInput) => {
    const environment = request.caller?.environment.name ?? environmentNameOf(operation, input);
    const principal = request.caller?.principal;
    return deps.limits.count({
      environment: deps.environments.has(environment) ? environment : DEFAULT_ENVIRONMENT,
      name: `${contract.name}.${name}`,
      operation,
      accountId: principal === undefined || principal.kind === 'none' ? undefined : principal.account_id,
      accountFactor: request.caller?.limitFactor ?? 1,
      ip: request.origin.address,
      input,
    });
  };

  /** Counts a call, once, and refuses it where a limit is used up. */
  const count = async (route: Route, request: FastifyRequest, reply: FastifyReply, input: RawInput) => {
    if (request.counted) return;
    request.counted = true;
    const own = route.contract.name === gateway.name;
    const quotas = own
      ? countOwn(route.name, route.operation, request.origin.address)
      : await countForwarded(route, request, input);
    admit(reply, quotas);
  };

  const answerOwn = async (route: Route, request: FastifyRequest, reply: FastifyReply) => {
    await count(route, request, reply, {});
    const input = validated(route.operation, request, {});
    return route.operation.output.parse(await ownHandlers[route.name]!(input, { kind: 'none' }));
  };

  /** The caller of a call that needs no credential. An environment that is not served is a wrong value of a field. */
  const anonymous = (environmentName: string): Authenticated => {
    const environment = deps.environments.get(environmentName);
    if (environment !== undefined) return { environment, principal: { kind: 'none' }, limitFactor: 1 };
    throw invalid('environment', 'not served here');
  };

  const answerForwarded = async (route: Route, request: FastifyRequest, reply: FastifyReply) => {
    const { contract, name, operation } = route;
    let given: RawInput = {};
    let body: RawInput = {};
    let malformed: unknown;
    try {
      const bytes = request.body as Buffer | undefined;
      given = operation.rawBody === true ? rawBodyOf(bytes, request.headers) : parseBody(bytes);
      body = withCookie(operation, request, given, deps.browserOrigins);
      body = withBrowser(operation, request, reply, body, deps.browserOrigins);
    } catch (error) {
      malformed = error; // Counted first, refused then.
    }
    const input = rawInputOf(request, body);
    await count(route, request, reply, input);
    if (malformed !== undefined) throw malformed;
    const checked = validated(operation, request, body);
    const caller = request.caller ?? anonymous(environmentNameOf(operation, input));
    const answer = await forward(contract, name, checked, caller, {
      requestId: request.id,
      idempotencyKey: keyOf(operation, request),
      onReplay: () => void reply.header(IDEMPOTENT_REPLAYED, 'true'),
    });
    return intoCookie(operation, given, caller.environment.name, answer, request, reply);
  };

  for (const contract of contractList) {
    for (const [name, operation] of Object.entries(contract.operations)) {
      const { method, path } = operation.http;
      const route: Route = { contract, name, operation };
      const call = (request: FastifyRequest, reply: FastifyReply) =>
        contract.name === gateway.name
          ? answerOwn(route, request, reply)
          : answerForwarded(route, request, reply);
      app.route({
        method,
        url: path,
        config: { operation },
        onRequest: async (request) => {
          if (operation.access.length === 0) return;
          request.caller = await deps.authenticate(request.raw.rawHeaders, request.origin.address);
          authorize(request.caller, operation);
        },
        errorHandler: async (error, request, reply) => {
          await count(route, request, reply, {});
          throw error;
        },
        handler: async (request: FastifyRequest, reply: FastifyReply) => {
          const { status, body, headers } = await inCallSpan(request, async () =>
            answerOf(operation, await call(request, reply)),
          );
          void reply.code(status).headers(headers);
          return body === null ? reply.send() : reply.type('application/json; charset=utf-8').send(body);
        },
      });
    }
  }
};
