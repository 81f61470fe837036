import { z } from 'zod';
import { authorityText } from './authority.ts';
import { codeSamples } from './code-samples.ts';
import { deprecationText } from './deprecated.ts';
import { deviceText } from './device-access.ts';
import { errorSchema, exampleReference, problemSchema } from './error-schema.ts';
import { ERRORS, type ErrorCode, PROBLEM_TYPE } from './errors.ts';
import type { Json } from './examples.ts';
import { IDEMPOTENT_REPLAYED, IdempotencyKey } from './idempotency.ts';
import { contractList } from './index.ts';
import { shareParameters } from './openapi-parameters.ts';
import { type Converter, createConverter } from './openapi-schemas.ts';
import type { CredentialKind } from './principal.ts';
import { errorsOf, type HttpOperation, type Limit, stepUpReason } from './service.ts';
import { placeOf, TAGS } from './tags.ts';
import { webhooksObject } from './webhook/openapi.ts';

/**
 * The OpenAPI 3.1 document of the public API, derived from the contract. It is written to docs/ and
 * served unchanged.
 */

const ERROR_ID = 'Error';
const PROBLEM_ID = 'Problem';
const SECURITY: Record<CredentialKind, { scheme: string; name: string; description: string }> = {
  service_key: {
    scheme: 'serviceKey',
    name: 'a service key',
    description: 'Service key: vendor_test_… or vendor_live_…',
  },
  delegate_key: {
    scheme: 'delegateKey',
    name: 'a delegate key',
    description: 'Delegate key: dk_test_… or dk_live_…',
  },
  jwt: {
    scheme: 'accessToken',
    name: 'the access token of a sign-in',
    description: 'Access token of a sign-in (JWT, EdDSA, 15 minutes)',
  },
};

const jsonContent = (schema: Json, example?: unknown) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
});

const RAW_BODY = {
  required: true,
  description: 'The bytes that the sender signed. The signature is checked over them',
  content: jsonContent({ type: 'object' }),
};

const parametersOf = (
  place: 'path' | 'query',
  schema: z.ZodObject,
  { convert, example }: Converter,
): Json[] =>
  Object.entries(schema.shape as Record<string, z.ZodType>).map(([name, field]) => {
    const optional = field.safeParse(undefined).success;
    const inner = field instanceof z.ZodOptional ? (field.unwrap() as z.ZodType) : field;
    const { description, deprecated, ...converted } = convert(inner, { open: false });
    const text = inner === field ? description : (field.description ?? description);
    // Optional query parameters have no example: with all of them filled in, the filters would
    // exclude each other.
    const shown = place === 'path' || !optional ? { example: example(converted, name) } : {};
    return {
      name,
      in: place,
      required: !optional,
      ...((deprecated ?? field.meta()?.deprecated) === true ? { deprecated: true } : {}),
      ...(text === undefined ? {} : { description: text }),
      schema: converted,
      ...shown,
    };
  });

const keyParameter = ({ convert }: Converter): Json => ({
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: convert(IdempotencyKey, { open: false }),
});

/**
 * The members of an answer by their HTTP status: the member that `alternative` names, and the rest.
 */
const bodiesByStatus = ({ http, output }: HttpOperation): [number, z.ZodType][] => {
  const { alternative, status } = http;
  if (alternative === undefined || !(output instanceof z.ZodDiscriminatedUnion)) return [[status, output]];
  const options = output.options as unknown as z.ZodObject[];
  const isAlternative = (option: z.ZodObject) =>
    (option.shape[alternative.field] as z.ZodType).safeParse(alternative.equals).success;
  const union = (members: z.ZodObject[]) => (members.length === 1 ? members[0]! : z.union(members));
  return [
    [status, union(options.filter((option) => !isAlternative(option)))],
    [alternative.status, union(options.filter(isAlternative))],
  ];
};

const MEANING_OF_STATUS: Record<number, string> = {
  200: 'OK',
  201: 'Created',
  202: 'Accepted, not final yet',
  204: 'OK, no content',
};
const REQUEST_ID = { 'x-request-id': { $ref: '#/components/headers/RequestId' } };
const RETRY_AFTER = { 'retry-after': { $ref: '#/components/headers/RetryAfter' } };

const REPLAYED = { [IDEMPOTENT_REPLAYED]: { $ref: '#/components/headers/IdempotentReplayed' } };

const RATE_LIMIT = {
  'ratelimit-policy': { $ref: '#/components/headers/RateLimitPolicy' },
  ratelimit: { $ref: '#/components/headers/RateLimit' },
};

const exampledContent = (schema: z.ZodType, open: boolean, id: string, { convert, example }: Converter) => {
  const converted = convert(schema, { open });
  return jsonContent(converted, example(converted, id));
};

const successResponses = (op: HttpOperation, id: string, converter: Converter): Json =>
  Object.fromEntries(
    bodiesByStatus(op).map(([status, body]) => [
      status,
      {
        description: MEANING_OF_STATUS[status],
        headers: {
          ...REQUEST_ID,
          ...(status === op.http.alternative?.status ? RETRY_AFTER : {}),
          ...(op.idempotency === undefined ? {} : REPLAYED),
          ...RATE_LIMIT,
        },
        ...(status === 204 ? {} : { content: exampledContent(body, true, `${id} answer`, converter) }),
      },
    ]),
  );

/**
 * Error answers by status. Each set of codes is one component, because most operations share them.
 */
const errorResponses = (op: HttpOperation, shared: Record<string, Json>): Json => {
  const byStatus = Map.groupBy(errorsOf(op), (code) => ERRORS[code].http);
  const response = (status: number, codes: ErrorCode[]) => ({
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].meaning}`).join('\n\n'),
    headers: {
      ...REQUEST_ID,
      ...(status === 429 || status === 503 || codes.includes('conflict') ? RETRY_AFTER : {}),
      ...(status === 429 ? RATE_LIMIT : {}),
    },
    content: {
      ...jsonContent(
        {
          allOf: [
            { $ref: `#/components/schemas/${ERROR_ID}` },
            { properties: { error: { properties: { code: { enum: codes } } } } },
          ],
        },
        { error: { code: codes[0], message: ERRORS[codes[0]!].meaning, ...exampleReference(codes[0]!) } },
      ),
      ...(op.dialect === undefined && {
        [PROBLEM_TYPE]: { schema: { $ref: `#/components/schemas/${PROBLEM_ID}` } },
      }),
    },
  });
  return Object.fromEntries(
    [...byStatus].map(([status, unordered]) => {
      const codes = unordered.sort();
      // Of another protocol, an error has the form of that one and no other.
      const name = [...codes, ...(op.dialect === undefined ? [] : ['dialect'])].join('.');
      shared[name] ??= response(status, codes);
      return [status, { $ref: `#/components/responses/${name}` }];
    }),
  );
};

/** A limit as text: "30 per minute per account". */
export const limitText = ({ points, windowSeconds, per }: Limit): string => {
  const whole = [
    [3600, 'hour'],
    [60, 'minute'],
  ] as const;
  const unit = whole.find(([seconds]) => windowSeconds % seconds === 0);
  const count = unit === undefined ? windowSeconds : windowSeconds / unit[0];
  const name = unit === undefined ? 'second' : unit[1];
  const window = count === 1 ? name : `${count} ${name}s`;
  const counted =
    typeof per === 'string' ? { account: 'account', ip: 'address' }[per] : `value of ${per.field}`;
  return `${points} per ${window} per ${counted}`;
};

/** The name of an operation, unique in the API, as in the limits file: `quote.create`. */
export const operationId = (service: string, operation: string): string => `${service}.${operation}`;

const stepUpText = (op: HttpOperation): string | undefined =>
  op.stepUp && `${['Needs a sign-in of the last 5 minutes', stepUpReason(op)].filter(Boolean).join(', ')}.`;

/** Every operation with its name, in the order of the reference. */
const operationsInOrder = (): [string, HttpOperation][] =>
  contractList
    .flatMap(({ name: service, operations }) =>
      Object.entries(operations).map(([name, op]): [string, HttpOperation] => [
        operationId(service, name),
        op,
      ]),
    )
    .sort(([a], [b]) => placeOf(a).order - placeOf(b).order);

const operationObject = (
  id: string,
  op: HttpOperation,
  converter: Converter,
  responses: Record<string, Json>,
): Json => {
  const parameters = [
    ...parametersOf('path', op.params, converter),
    ...parametersOf('query', op.query, converter),
    ...(op.idempotency === undefined ? [] : [keyParameter(converter)]),
  ];
  const takesBody = Object.keys(op.body.shape).length > 0;
  const required = !op.body.safeParse({}).success;
  const limits = [
    `Limit: ${op.limits.map(limitText).join('; ')}.`,
    ...(op.refusalsApart === undefined
      ? []
      : [
          `Calls that are refused with \`validation_error\` do not count in it up to ${limitText({ ...op.refusalsApart, per: 'account' })}.`,
        ]),
  ].join(' ');
  const credential =
    op.access.length === 0
      ? 'Needs no credential.'
      : `Credential: ${op.access.map((kind) => SECURITY[kind].name).join(' or ')}.`;
  return {
    operationId: id,
    tags: [placeOf(id).tag],
    summary: op.summary,
    ...(op.deprecated && { deprecated: true }),
    description: [
      op.deprecated && `${deprecationText(op.deprecated)}.`,
      op.description,
      [credential, stepUpText(op), authorityText(op.authorisedBy), deviceText(op), limits]
        .filter(Boolean)
        .join(' '),
    ]
      .filter(Boolean)
      .join('\n\n'),
    security: op.access.map((kind) => ({ [SECURITY[kind].scheme]: [] })),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(op.rawBody === true ? { requestBody: RAW_BODY } : {}),
    ...(takesBody && op.rawBody !== true
      ? { requestBody: { required, content: exampledContent(op.body, false, `${id} request`, converter) } }
      : {}),
    responses: { ...successResponses(op, id, converter), ...errorResponses(op, responses) },
    'x-rate-limits': op.limits.map(({ points, windowSeconds, per }) => ({
      points,
      window_seconds: windowSeconds,
      per,
    })),
    ...(op.authorisedBy === undefined || op.authorisedBy === 'nothing'
      ? {}
      : { 'x-authorised-by': op.authorisedBy }),
    ...(op.stepUp === undefined ? {} : { 'x-step-up': stepUpReason(op) ?? true }),
    ...(op.onlyIn === undefined ? {} : { 'x-environments': op.onlyIn }),
  };
};

const EXAMPLE_SERVER = 'https://api.quittance.example';
/** @param described the operation in the document */
const samplesOf = (id: string, op: HttpOperation, described: Json, serverUrl: string): Json[] => {
  const { parameters = [], requestBody } = described as {
    parameters?: Json[];
    requestBody?: { content: ReturnType<typeof jsonContent> };
  };
  const body = op.bodyOptional === true ? undefined : requestBody?.content['application/json'].example;
  const server = serverUrl === '/' ? EXAMPLE_SERVER : serverUrl;
  return codeSamples({ id, op, serverUrl: server, parameters, body: body as Json | undefined });
};

const DESCRIPTION = `Pay for an API call in USDC on Solana: the vendor quotes, the payer settles, the vendor redeems.

Amounts are strings of USDC micro-units (1 USDC = 1,000,000). Times are ISO 8601, UTC. Unknown request fields are
refused; answers may gain fields. Lists are newest first; \`next_cursor\` is the cursor of the next page. The credential's
prefix selects the environment (test or live). Every error has \`request_id\`, which identifies the call for support, and \`docs_url\`, the page
about its code.

You can retry any call. GET, PATCH and DELETE are idempotent; settle and consume use the id in their body; every other POST
that creates something accepts an \`Idempotency-Key\`.

You get a service key or a delegate key in the [console](/console). [Errors](/docs/errors) has the causes of every error and what
to do. [llms.txt](/llms.txt) is a short description for language models.`;

/** The complete document. @param serverUrl the base URL of the API */
export const openApiDocument = ({ serverUrl }: { serverUrl: string }): Json => {
  const converter = createConverter();
  const { components } = converter;
  const paths: Record<string, Record<string, Json>> = {};
  const responses: Record<string, Json> = {};
  for (const [id, op] of operationsInOrder()) {
    const path = op.http.path.replace(/:(\w+)/g, '{$1}');
    const described = operationObject(id, op, converter, responses);
    const samples = op.rawBody === true ? {} : { 'x-codeSamples': samplesOf(id, op, described, serverUrl) };
    paths[path] = { ...paths[path], [op.http.method.toLowerCase()]: { ...described, ...samples } };
  }
  const webhooks = webhooksObject(converter);
  const operations = [...Object.values(paths), ...Object.values(webhooks)].flatMap((each) =>
    Object.values(each),
  );
  const parameters = shareParameters(operations);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Quittance',
      version: '1',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: serverUrl }],
    tags: TAGS.map(({ name, description }) => ({ name, description })),
    paths,
    webhooks,
    components: {
      schemas: { [ERROR_ID]: errorSchema(), [PROBLEM_ID]: problemSchema(), ...sorted(components) },
      responses: sorted(responses),
      parameters: sorted(parameters),
      headers: {
        RequestId: { description: 'Identifies this call in our logs', schema: { type: 'string' } },
        RetryAfter: {
          description: 'Seconds after which to repeat the call',
          schema: { type: 'integer', minimum: 1 },
        },
        IdempotentReplayed: {
          description:
            'Present if this is the stored answer of an earlier call with the same Idempotency-Key',
          schema: { const: 'true' },
        },
        RateLimitPolicy: {
          description:
            'The limits that counted this call: `q` calls in any `w` seconds, per account, address or field',
          schema: { type: 'string' },
          example: '"account";q=30;w=60',
        },
        RateLimit: {
          description:
            'The state of each limit: `r` calls remain, and the next one becomes available in `t` seconds',
          schema: { type: 'string' },
          example: '"account";r=29;t=60',
        },
      },
      securitySchemes: Object.fromEntries(
        Object.values(SECURITY).map(({ scheme, description }) => [
          scheme,
          { type: 'http', scheme: 'bearer', description },
        ]),
      ),
    },
  };
};

const sorted = (record: Record<string, Json>): Record<string, Json> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
