import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { deprecationHeaders } from '../../../shared/contract/deprecated.ts';
import { invalid } from '../../../shared/contract/errors.ts';
import { IDEMPOTENT_REPLAYED } from '../../../shared/contract/idempotency.ts';
import { contractList, gateway, identity } from '../../../shared/contract/index.ts';
import type { Handlers, HttpOperation, ServiceContract } from '../../../shared/contract/service.ts';
import { addressGroup } from '../../../shared/lib/chain/address.ts';
import type { Logger } from '../../../shared/lib/telemetry/logger.ts';
import { loggedIds } from '../../../shared/lib/telemetry/trace.ts';
import {
  type Authenticate,
  type Authenticated,
  authorize,
  authorizeInput,
} from '../credentials/authenticate.ts';
import { withBrowserNonce } from '../credentials/browser-cookie.ts';
import { moveTokenIntoCookie, withRefreshToken } from '../credentials/refresh-cookie.ts';
import type { GatewayEnvironment } from '../environments/environment.ts';
import { createInMemoryWindow } from '../limits/in-memory-window.ts';
import type { Limits } from '../limits/limits.ts';
import { admit, type Quota } from '../limits/quota.ts';
import { parseBody, rawBodyOf } from './body.ts';
import { clientOf } from './client.ts';
import { answerOf, confirmHandOut, forward } from './forward.ts';
import {
  DEFAULT_ENVIRONMENT,
  environmentNameOf,
  idempotencyKeyOf,
  type RawInput,
  rawInputOf,
  validateInput,
} from './input.ts';
import type { Origin } from './proxies.ts';
import { fieldsOfRefused } from './refused-body.ts';
import { inCallSpan } from './trace.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: HttpOperation;
    /** `<service>.<operation>`, for the log line. */
    name?: string;
  }
  interface FastifyRequest {
    caller: Authenticated | null;
    /** Whether the limits have counted this call. */
    counted: boolean;
    origin: Origin;
    /** The ids in the validated input and in the answer, for the log line. */
    ids: ReturnType<typeof loggedIds> | undefined;
  }
}

export type RouteDeps = {
  /** Handlers of the operations that the gateway answers itself. */
  handlers: Handlers<typeof gateway>;
  environments: ReadonlyMap<string, GatewayEnvironment>;
  authenticate: Authenticate;
  limits: Pick<Limits, 'count' | 'countApart'>;
  logger: Logger;
  /** Origins of the pages that may keep a refresh token in the cookie. */
  browserOrigins: readonly string[];
  publicUrl: string;
};

type Route = { contract: ServiceContract; name: string; operation: HttpOperation };
type Call = { route: Route; request: FastifyRequest; reply: FastifyReply };
/** Counts a call once, and refuses it where a limit is used up. */
type CountCall = (call: Call, input: RawInput) => Promise<void>;

/**
 * The nonce of the browser, if it has signed in to the address whose link it requests. The address
 * of the caller is counted before this is read.
 */
const createKnownBrowserOf =
  (environment: GatewayEnvironment | undefined, { browserCookie }: HttpOperation, input: RawInput) =>
  async (): Promise<string | undefined> => {
    if (environment === undefined || browserCookie !== 'give') return undefined;
    const browser = identity.internal.isKnownBrowser.input.safeParse({
      email: input.email,
      browser_nonce: input.browser_nonce,
    }).data;
    if (browser === undefined || !(await environment.isKnownBrowser(browser))) return undefined;
    return browser.browser_nonce;
  };

/** A call as the limits count it. */
const limitedCall = (
  { environments }: Pick<RouteDeps, 'environments'>,
  { route: { contract, name, operation }, request }: Call,
  input: RawInput,
) => {
  const { caller } = request;
  const environment = caller?.environment.name ?? environmentNameOf(operation, input);
  const principal = caller?.principal;
  return {
    knownBrowserOf: createKnownBrowserOf(environments.get(environment), operation, input),
    environment: environments.has(environment) ? environment : DEFAULT_ENVIRONMENT,
    name: `${contract.name}.${name}`,
    operation,
    accountId: principal === undefined || principal.kind === 'none' ? undefined : principal.account_id,
    accountFactor: caller?.limitFactor ?? 1,
    ip: request.origin.address,
    input,
  };
};

const createCountCall = ({ environments, limits }: RouteDeps): CountCall => {
  const ownWindow = createInMemoryWindow();

  const countPublic = ({ route: { name, operation }, request }: Call): Quota[] =>
    operation.limits.map(({ points, windowSeconds, per }) => ({
      points,
      windowSeconds,
      per,
      ...ownWindow.consume(`${name}:${addressGroup(request.origin.address)}`, points, windowSeconds),
    }));

  return async (call, input) => {
    if (call.request.counted) return;
    call.request.counted = true;
    // Health and the public documents are counted here, because they are requested often.
    const { contract, operation } = call.route;
    const isPublic = contract.name === gateway.name && operation.access.length === 0;
    admit(
      call.reply,
      isPublic ? countPublic(call) : await limits.count(limitedCall({ environments }, call, input)),
    );
  };
};

/** Answers an operation of the gateway itself. */
const createAnswerOwn = (handlers: RouteDeps['handlers'], countCall: CountCall) => {
  const byName = handlers as unknown as Record<string, (input: unknown, caller: unknown) => Promise<unknown>>;
  return async (call: Call): Promise<unknown> => {
    const { name, operation } = call.route;
    await countCall(call, {});
    const input = validateInput(operation, call.request, {});
    const principal = call.request.caller?.principal ?? { kind: 'none' };
    return operation.output.parse(await byName[name]!(input, principal));
  };
};

/**
 * The body of a forwarded call, with the values of its cookies. `sent` is the body without them.
 */
const readBody = ({ route: { operation }, request, reply }: Call, origins: readonly string[]) => {
  const bytes = request.body as Buffer | undefined;
  const sent: RawInput = operation.rawBody === true ? rawBodyOf(bytes, request.headers) : parseBody(bytes);
  const withToken = withRefreshToken(operation, request, sent, origins);
  return { sent, body: withBrowserNonce(operation, request, reply, withToken, origins) };
};

/** Whether an answer, or the error of a call, refuses what the call holds. */
const isRefusedForContent = (outcome: unknown): boolean =>
  (outcome as { error?: { code?: unknown } } | null)?.error?.code === 'validation_error';

/** The caller as identity has it now, for a repeat within the call. */
const createCheckAgain =
  ({ authenticate }: Pick<RouteDeps, 'authenticate'>, { route: { operation }, request }: Call) =>
  async (): Promise<Authenticated> => {
    const caller = await authenticate(request.raw.rawHeaders, request.origin.address);
    authorize(caller, operation);
    return caller;
  };

/** `sent` is the body without the values of cookies, `input` all fields before validation. */
type Received = { sent: RawInput; body: RawInput; input: RawInput };

/** Forwards a call that was counted to its service, and waits for the answer. */
const createAnswerCounted = (deps: RouteDeps) => {
  /**
   * The caller of a call that needs no credential. An environment that is not served is a wrong
   * field value.
   */
  const anonymous = (environmentName: string): Authenticated => {
    const environment = deps.environments.get(environmentName);
    if (environment !== undefined) return { environment, principal: { kind: 'none' }, limitFactor: 1 };
    throw invalid('environment', 'is not served by this gateway');
  };

  return async (call: Call, { sent, body, input }: Received): Promise<unknown> => {
    const { route, request, reply } = call;
    const { contract, name, operation } = route;
    const checked = validateInput(operation, request, body);
    request.ids = loggedIds(checked);
    const caller = request.caller ?? anonymous(environmentNameOf(operation, input));
    authorizeInput(caller, operation, checked);
    const answer = await forward(contract, name, checked, caller, {
      requestId: request.id,
      client: clientOf(request.origin.address, request.headers['user-agent']),
      idempotencyKey: idempotencyKeyOf(operation, request),
      onReplay: () => void reply.header(IDEMPOTENT_REPLAYED, 'true'),
      onNoted: (ids) => void Object.assign(request.ids!, ids),
      checkAgain: createCheckAgain(deps, call),
    });
    if (operation.confirmsHandOut === true)
      // `finish`: the whole answer was handed to the operating system.
      reply.raw.once('finish', () => {
        void confirmHandOut(answer, caller).catch((error: unknown) =>
          deps.logger.error({ err: error, request_id: request.id }, 'hand-out not confirmed'),
        );
      });
    return moveTokenIntoCookie(operation, sent, caller.environment.name, answer, request, reply);
  };
};

/** Counts a call, and answers it by its service. What its content is refused for counts apart. */
const createAnswerForwarded = (deps: RouteDeps, countCall: CountCall) => {
  const answerCounted = createAnswerCounted(deps);
  return async (call: Call): Promise<unknown> => {
    const { operation } = call.route;
    let sent: RawInput = {};
    let body: RawInput = {};
    let malformed: unknown;
    try {
      ({ sent, body } = readBody(call, deps.browserOrigins));
    } catch (error) {
      malformed = error; // Counted before it is refused.
    }
    const input = rawInputOf(call.request, body);
    if (malformed === undefined) call.request.sent = input;
    await countCall(call, input);
    const countApart = async (outcome: unknown): Promise<void> => {
      if (operation.refusalsApart !== undefined && isRefusedForContent(outcome))
        await deps.limits.countApart(limitedCall(deps, call, input));
    };
    try {
      if (malformed !== undefined) throw malformed;
      const answer = await answerCounted(call, { sent, body, input });
      await countApart(answer);
      return answer;
    } catch (error) {
      await countApart({ error });
      throw error;
    }
  };
};

/**
 * The routes of the whole API, derived from the contract in one loop. The steps of each call:
 * credential (before the body is read), limits, validation, forward. A call that is refused before
 * the limits (403, 413, 415) is counted with its answer, because failed calls count too
 * (docs/spec/decisions.md, Limits).
 */
export const registerRoutes = (app: FastifyInstance, deps: RouteDeps): void => {
  const countCall = createCountCall(deps);
  const answerOwn = createAnswerOwn(deps.handlers, countCall);
  const answerForwarded = createAnswerForwarded(deps, countCall);

  const register = (route: Route) => {
    const { contract, operation } = route;
    const { deprecated } = operation;
    const notice = deprecated && deprecationHeaders(deprecated, `${deps.publicUrl}/docs/guides/versioning`);
    const answerCall = contract.name === gateway.name ? answerOwn : answerForwarded;
    app.route({
      method: operation.http.method,
      url: operation.http.path,
      config: {
        operation,
        name: `${contract.name}.${route.name}`,
        ...(operation.isDocument === true && { document: 'public' as const }),
        // Wallets call these from their own pages.
        ...(operation.dialect === 'solanaPay' && { isOpen: true }),
      },
      onRequest: async (request, reply) => {
        if (notice !== undefined) void reply.headers(notice);
        if (operation.access.length === 0) return;
        const caller = await deps.authenticate(request.raw.rawHeaders, request.origin.address);
        request.caller = caller;
        authorize(caller, operation);
      },
      errorHandler: async (error, request, reply) => {
        await countCall({ route, request, reply }, {});
        if (operation.money === 'moves') request.sent ??= await fieldsOfRefused(request);
        throw error;
      },
      handler: async (request: FastifyRequest, reply: FastifyReply) => {
        const { status, body, headers } = await inCallSpan(request, async () =>
          answerOf(operation, await answerCall({ route, request, reply })),
        );
        request.ids = { ...request.ids, ...loggedIds(body) };
        void reply.code(status).headers(headers);
        return body === null ? reply.send() : reply.type('application/json; charset=utf-8').send(body);
      },
    });
  };
  for (const contract of contractList)
    for (const [name, operation] of Object.entries(contract.operations))
      register({ contract, name, operation });
};
