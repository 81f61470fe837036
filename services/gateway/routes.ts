import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseInput } from '../../shared/bus/serve.ts';
import { ServiceError } from '../../shared/contract/errors.ts';
import { contractList, gateway } from '../../shared/contract/index.ts';
import type { Handlers, HttpOperation, ServiceContract } from '../../shared/contract/service.ts';
import { addressGroup } from './address.ts';
import { parseBody, rawBodyOf } from './body.ts';
import type { Authenticated } from './credentials.ts';
import type { Deps } from './deps.ts';
import { answerOf, forward } from './forward.ts';
import { health } from './handlers/health.ts';
import { jwks } from './handlers/jwks.ts';
import { ready } from './handlers/ready.ts';
import { admit } from './quota.ts';
import { intoCookie, withCookie } from './refresh-cookie.ts';
import { createSlidingWindow } from './sliding-window.ts';
import { inServerSpan } from './trace.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: HttpOperation;
  }
  interface FastifyRequest {
    caller: Authenticated | null;
  }
}

const DEFAULT_ENVIRONMENT = 'test';

/** Fields of a call as they came, all parts side by side: names never collide (contract test). */
type RawInput = Record<string, unknown>;

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

const rawInputOf = (request: FastifyRequest, body: RawInput): RawInput => ({
  ...(request.query as RawInput),
  ...body,
  ...(request.params as RawInput),
});

/**
 * The routes of the whole API, derived from the contract in one loop. For each call in this order: credential
 * (before the body is read), limits (failed calls count), validation, forward.
 */
export const registerRoutes = (app: FastifyInstance, deps: Deps): void => {
  const own: Handlers<typeof gateway> = { health: health(deps), ready: ready(deps), jwks: jwks(deps) };
  const ownHandlers = own as unknown as Record<string, (input: unknown, caller: unknown) => Promise<unknown>>;
  const ownWindow = createSlidingWindow();

  const answerOwn = async (
    name: string,
    operation: HttpOperation,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    const quotas = operation.limits.map(({ points, windowSeconds, per }) => ({
      ...{ points, windowSeconds, per },
      ...ownWindow.take(`${name}:${addressGroup(request.ip)}`, points, windowSeconds),
    }));
    admit(reply, quotas);
    const input = validated(operation, request, {});
    return operation.output.parse(await ownHandlers[name]!(input, { kind: 'none' }));
  };

  /** The caller of a call that needs no credential. An environment that is not served is a wrong value of a field. */
  const anonymous = (environmentName: string): Authenticated => {
    const environment = deps.environments.get(environmentName);
    if (environment !== undefined) return { environment, principal: { kind: 'none' } };
    throw new ServiceError('validation_error', 'this environment is not served here', {
      details: [{ path: 'environment', message: 'not served here' }],
    });
  };

  const answerForwarded = async (
    contract: ServiceContract,
    name: string,
    operation: HttpOperation,
    request: FastifyRequest,
    reply: FastifyReply,
  ) => {
    let given: RawInput = {};
    let body: RawInput = {};
    let malformed: unknown;
    try {
      const bytes = request.body as Buffer | undefined;
      given = operation.rawBody === true ? rawBodyOf(bytes, request.headers) : parseBody(bytes);
      body = withCookie(operation, request, given, deps.browserOrigins);
    } catch (error) {
      malformed = error; // Counted first, refused then.
    }
    const input = rawInputOf(request, body);
    const environmentName = request.caller?.environment.name ?? environmentNameOf(operation, input);
    const served = deps.environments.has(environmentName);
    const principal = request.caller?.principal;
    const quotas = await deps.limits.count({
      environment: served ? environmentName : DEFAULT_ENVIRONMENT,
      name: `${contract.name}.${name}`,
      operation,
      accountId: principal === undefined || principal.kind === 'none' ? undefined : principal.account_id,
      ip: request.ip,
      input,
    });
    admit(reply, quotas);
    if (malformed !== undefined) throw malformed;
    const checked = validated(operation, request, body);
    const caller = request.caller ?? anonymous(environmentName);
    const answer = await forward(contract, name, checked, caller, request.id);
    return intoCookie(operation, given, caller.environment.name, answer, reply);
  };

  for (const contract of contractList) {
    for (const [name, operation] of Object.entries(contract.operations)) {
      const { method, path } = operation.http;
      const call = (request: FastifyRequest, reply: FastifyReply) =>
        contract.name === gateway.name
          ? answerOwn(name, operation, request, reply)
          : answerForwarded(contract, name, operation, request, reply);
      app.route({
        method,
        url: path,
        config: { operation },
        onRequest: async (request) => {
          if (operation.access.length === 0) return;
          request.caller = await deps.authenticate(request.raw.rawHeaders, operation);
        },
        handler: (request: FastifyRequest, reply: FastifyReply) =>
          inServerSpan(request, reply, { method, path }, async () => {
            const { status, body, headers } = answerOf(operation, await call(request, reply));
            void reply.code(status).headers(headers);
            return body === null ? reply.send() : reply.type('application/json; charset=utf-8').send(body);
          }),
      });
    }
  }
};
