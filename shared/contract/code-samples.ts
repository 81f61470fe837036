import type { Json } from './examples.ts';
import type { CredentialKind } from './principal.ts';
import type { HttpOperation } from './service.ts';
import type { OperationId } from './tags.ts';

/**
 * The code samples of the reference, made from the examples of each operation. Every operation has
 * one for the shell and one for the SDK. Those of the first steps also have one for Python.
 */

const FIRST_STEPS: readonly OperationId[] = [
  'identity.createService',
  'identity.createDelegate',
  'quote.create',
  'settlement.settle',
  'settlement.redeem',
  'settlement.verify',
  'settlement.consume',
  'settlement.get',
  'settlement.list',
  'settlement.getReceipt',
  'wallet.list',
  'wallet.listTransactions',
  'wallet.spendingSummary',
  'funding.devFund',
  'funding.createRefund',
  'webhook.createEndpoint',
  'webhook.listEvents',
  'identity.startDeviceSignIn',
  'identity.pollDeviceSignIn',
];

/** The variable that holds a credential. The first kind that an operation accepts is shown. */
const VARIABLES: readonly (readonly [CredentialKind, string])[] = [
  ['service_key', 'SERVICE_KEY'],
  ['delegate_key', 'DELEGATE_KEY'],
  ['jwt', 'ACCESS_TOKEN'],
];
const variableOf = ({ access }: HttpOperation): string | undefined =>
  VARIABLES.find(([kind]) => access.includes(kind))?.[1];

/** What a sample of one call needs. */
type Example = {
  id: string;
  op: HttpOperation;
  serverUrl: string;
  /** The path with the examples of its parameters. */
  path: string;
  params: Json;
  /** Undefined if none is needed. */
  body: Json | undefined;
};

/** Shell text in single quotes. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

const curl = ({ op, serverUrl, path, body }: Example): string => {
  const variable = variableOf(op);
  const { method } = op.http;
  const implied = body === undefined ? 'GET' : 'POST';
  return [
    `curl ${method === implied ? '' : `--request ${method} `}${quoted(serverUrl + path)}`,
    ...(variable === undefined ? [] : [`--header "Authorization: Bearer $${variable}"`]),
    ...(method === 'GET' ? [] : [`--header 'Content-Type: application/json'`]),
    ...(body === undefined ? [] : [`--data ${quoted(JSON.stringify(body, null, 2))}`]),
  ].join(' \\\n  ');
};

/** JSON as TypeScript, with plain names without quotes. */
const inTypeScript = (value: Json): string =>
  JSON.stringify(value, null, 2).replace(/^( *)"([A-Za-z_]\w*)":/gm, '$1$2:');

const typeScript = ({ id, op, serverUrl, params, body }: Example): string => {
  const variable = variableOf(op);
  const credential = variable === undefined ? '' : `, credential: process.env.${variable}!`;
  const input = { ...params, ...body };
  const call = `client.${id}(${Object.keys(input).length === 0 ? '' : inTypeScript(input)})`;
  return [
    `import { createClient } from '@quittance/sdk';`,
    '',
    `const client = createClient({ baseUrl: '${serverUrl}'${credential} });`,
    ...('cursor' in op.query.shape
      ? [`for await (const item of ${call}) console.log(item);`]
      : [op.http.status === 204 ? `await ${call};` : `console.log(await ${call});`]),
  ].join('\n');
};

const PYTHON_WORDS: Record<string, string> = { null: 'None', true: 'True', false: 'False' };
/** JSON as Python, in which three words differ. */
const inPython = (value: Json): string =>
  JSON.stringify(value, null, 4)
    .replace(/"(?:[^"\\]|\\.)*"|null|true|false/g, (token) => PYTHON_WORDS[token] ?? token)
    .replaceAll('\n', '\n    ');

const python = ({ op, serverUrl, path, body }: Example): string => {
  const variable = variableOf(op);
  return [
    ...(variable === undefined ? [] : ['import os']),
    'import requests',
    '',
    `answer = requests.${op.http.method.toLowerCase()}(`,
    `    "${serverUrl}${path}",`,
    ...(variable === undefined
      ? []
      : [`    headers={"Authorization": f"Bearer {os.environ['${variable}']}"},`]),
    ...(op.http.method === 'GET' ? [] : [`    json=${inPython(body ?? {})},`]),
    `    timeout=${op.timeoutSeconds + 10},`,
    ')',
    'answer.raise_for_status()',
    'print(answer.json())',
  ].join('\n');
};

/**
 * The samples of an operation, as `x-codeSamples` has them.
 * @param parameters the parameters of the operation in the API document, the required ones with
 *   examples
 * @param body the example of its body
 */
export const codeSamples = ({
  parameters,
  ...call
}: Omit<Example, 'path' | 'params'> & { parameters: readonly Json[] }): Json[] => {
  const needed = parameters.filter((each) => each.required === true);
  const params = Object.fromEntries(needed.map(({ name, example }) => [name, example]));
  const query = needed
    .filter((each) => each.in === 'query')
    .map(({ name, example }) => `${name}=${encodeURIComponent(String(example))}`);
  const plain = call.op.http.path.replace(/:(\w+)/g, (_, name: string) => String(params[name]));
  const path = [plain, ...(query.length === 0 ? [] : [query.join('&')])].join('?');
  const example = { ...call, params, path };
  return [
    { lang: 'bash', label: 'curl', source: curl(example) },
    { lang: 'typescript', label: 'TypeScript', source: typeScript(example) },
    ...((FIRST_STEPS as readonly string[]).includes(call.id)
      ? [{ lang: 'python', label: 'Python', source: python(example) }]
      : []),
  ];
};
