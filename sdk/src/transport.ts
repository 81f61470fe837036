import { ApiError, type ErrorBody, NoAnswerError } from './errors.ts';
import { ERROR_CLASSES } from './generated/errors.ts';
import { reasonOfNoAnswer } from './never-sent.ts';
import type { OperationInfo } from './types.ts';

/** Sends one request, without retries. */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;
export type Fields = { readonly [name: string]: unknown };
export type Received = { body: unknown; retryAfterMs: number | null };
export type Send = (
  info: OperationInfo,
  input: Fields,
  options: {
    token: string | null;
    signal?: AbortSignal | undefined;
    idempotencyKey?: string | undefined;
  },
) => Promise<Received>;

/** Added to the API's own time limit, for the network. */
const MARGIN_SECONDS = 10;
const DEFAULT_TIMEOUT_SECONDS = 5;

const pathOf = (template: string, input: Fields): string =>
  template.replace(/:(\w+)/g, (_, name: string) => {
    const value = String(input[name] ?? '');
    // A dot segment cannot be escaped, and would lead to another operation.
    if (/^\.{0,2}$/.test(value)) throw new TypeError(`${name} is missing or not an id`);
    return encodeURIComponent(value);
  });

const partsOf = ({ path, query = [], method, body }: OperationInfo, input: Fields) => {
  const inPath = new Set([...path.matchAll(/:(\w+)/g)].map(([, name]) => name!));
  const search = new URLSearchParams();
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (value === undefined || inPath.has(name)) continue;
    if (query.includes(name)) search.set(name, String(value));
    else rest[name] = value;
  }
  // Unknown fields are sent too, because the API names them in its refusal. Dropping them would
  // hide the mistake.
  const hasBody = method !== 'GET' && (body === true || method !== 'DELETE' || Object.keys(rest).length > 0);
  if (!hasBody) for (const [name, value] of Object.entries(rest)) search.set(name, String(value));
  const text = search.size === 0 ? '' : `?${search}`;
  return { target: `${pathOf(path, input)}${text}`, json: hasBody ? JSON.stringify(rest) : undefined };
};

const retryAfterMs = (headers: Headers): number | null => {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : null;
};

const errorOf = (
  response: Response,
  body: unknown,
  { name, moves }: { name: string; moves: boolean },
): ApiError | NoAnswerError => {
  const info = {
    status: response.status,
    requestId: response.headers.get('x-request-id'),
    retryAfterMs: retryAfterMs(response.headers),
  };
  const said = (body as { error?: ErrorBody } | null | undefined)?.error;
  if (typeof said?.code !== 'string') {
    return new NoAnswerError(`${name}: status ${response.status} without an answer of the API`, {
      ...info,
      moves,
    });
  }
  const Known = Object.hasOwn(ERROR_CLASSES, said.code)
    ? ERROR_CLASSES[said.code as keyof typeof ERROR_CLASSES]
    : ApiError;
  return new Known(said, info);
};

/**
 * @throws ApiError, of the class of its code, if the API refuses
 * @throws NoAnswerError if it is unknown whether the call was executed
 * @throws the signal's reason if it was aborted
 */
export const createSend =
  (baseUrl: string, fetch: Fetch): Send =>
  async (info, input, { token, signal, idempotencyKey }) => {
    const { target, json } = partsOf(info, input);
    // Without the values of the path and the query, which may be secrets.
    const called = { name: `${info.method} ${baseUrl}${info.path}`, moves: info.moves === true };
    const timeout = AbortSignal.timeout(
      (info.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000 + MARGIN_SECONDS * 1000,
    );
    const headers: Record<string, string> = { accept: 'application/json' };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    if (json !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey !== undefined) headers['idempotency-key'] = idempotencyKey;
    let response: Response;
    let body: unknown;
    try {
      response = await fetch(`${baseUrl}${target}`, {
        method: info.method,
        headers,
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        // The API never redirects. Another host must not get the credential.
        redirect: 'manual',
        ...(json === undefined ? {} : { body: json }),
      });
      const text = await response.text();
      body = text === '' ? undefined : JSON.parse(text);
    } catch (cause) {
      if (signal?.aborted) throw signal.reason;
      const reason = reasonOfNoAnswer(cause);
      const message = `${called.name}: no answer${reason === null ? '' : ` (${reason})`}`;
      throw new NoAnswerError(message, { cause, moves: called.moves });
    }
    if (!response.ok) throw errorOf(response, body, called);
    return { body, retryAfterMs: retryAfterMs(response.headers) };
  };
