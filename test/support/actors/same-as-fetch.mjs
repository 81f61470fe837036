import { createServer } from 'node:http';

/**
 * Requests that cost nothing, by plain fetch and by payingFetch, on the runtime that runs
 * this. It is plain JavaScript without dependencies, because old versions of Node, Bun and Deno run
 * it too.
 */

const bytes = () => new TextEncoder().encode('h\u00f6flich');
const form = () => {
  const made = new FormData();
  made.set('a', 'h\u00f6flich');
  made.set('file', new Blob(['x'], { type: 'text/css' }), 'a.css');
  return made;
};
const BODIES = {
  text: () => 'h\u00f6flich',
  'an empty text': () => '',
  bytes,
  'a buffer': () => bytes().buffer,
  'a view': () => new DataView(bytes().buffer),
  parameters: () => new URLSearchParams({ a: 'h\u00f6flich' }),
  'a form': form,
  'a blob': () => new Blob(['{}']),
  'a blob with a type': () => new Blob(['{}'], { type: 'application/json' }),
};
const stream = () => ({ body: new Blob(['a stream']).stream(), duplex: 'half' });

/** Rows: a name and the arguments of fetch, made anew for each of the two. */
const rows = (origin) => {
  const of = (path) => `${origin}${path}`;
  const post = (body, more = {}) => ({ method: 'POST', body, ...more });
  const made = [
    ['GET', () => [of('/echo')]],
    ['a URL with a fragment', () => [new URL(of('/echo?q=1#part'))]],
    ['HEAD', () => [of('/echo'), { method: 'HEAD' }]],
    ['OPTIONS', () => [of('/echo'), { method: 'OPTIONS' }]],
    ['a method of its own', () => [of('/echo'), { method: 'PURGE' }]],
    [
      'headers as pairs',
      () => [
        of('/echo'),
        {
          headers: [
            ['x-a', '1'],
            ['x-a', '2'],
          ],
        },
      ],
    ],
    ['Headers', () => [of('/echo'), { headers: new Headers({ 'X-A': '1', authorization: 'a' }) }]],
    [
      'a content type of its own',
      () => [of('/echo'), post('{}', { headers: { 'content-type': 'application/json' } })],
    ],
    ['a Request', () => [new Request(of('/echo'), { headers: { 'x-a': '1' }, redirect: 'manual' })]],
    ['a Request with a text', () => [new Request(of('/echo'), post('text'))]],
    [
      'a Request with other options',
      () => [new Request(of('/echo'), post('text')), { headers: { 'x-b': '2' } }],
    ],
    [
      'a Request whose signal is removed',
      () => [new Request(of('/echo'), { signal: AbortSignal.abort() }), { signal: null }],
    ],
    [
      'keepalive and credentials',
      () => [of('/echo'), { keepalive: true, credentials: 'include', cache: 'no-store' }],
    ],
    ['redirect: manual', () => [of('/302'), { redirect: 'manual' }]],
    ['redirect: error', () => [of('/302'), { redirect: 'error' }]],
    ['an aborted signal', () => [of('/echo'), { signal: AbortSignal.abort(new Error('my reason')) }]],
    ['a signal that aborts', () => [of('/never'), { signal: AbortSignal.timeout(100) }]],
    ['a refused connection', () => ['http://127.0.0.1:9/']],
    ['a broken connection', () => [of('/broken')]],
    ['no address', () => ['not an address']],
    ['an address with a password', () => [origin.replace('//', '//a:b@')]],
    ['GET with a body', () => [of('/echo'), { body: 'x' }]],
    ['an invalid method', () => [of('/echo'), { method: 'a b' }]],
    ['an invalid header', () => [of('/echo'), { headers: { 'a b': 'c' } }]],
    ['data:', () => ['data:text/plain,x']],
    ['402 of another system', () => [of('/402')]],
    ['a stream', () => [of('/echo'), { method: 'POST', ...stream() }]],
    ['a stream that is answered with 303', () => [of('/303'), { method: 'POST', ...stream() }]],
  ];
  for (const [name, make] of Object.entries(BODIES)) {
    made.push([`${name} to 200`, () => [of('/echo'), post(make())]]);
    for (const status of [301, 302, 303, 307, 308])
      made.push([`${name} to ${status}`, () => [of(`/${status}`), post(make())]]);
  }
  return made;
};

const startEcho = async () => {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk.toString('latin1');
    const { method, url, headers } = request;
    if (url === '/never') return;
    if (url === '/broken') return void request.socket.destroy();
    if (url === '/402') return void response.writeHead(402, { 'x-other': '1' }).end('{"pay":"me"}');
    const redirect = /^\/(3\d\d)$/.exec(url);
    if (redirect) return void response.writeHead(Number(redirect[1]), { location: '/echo' }).end();
    const { host: _host, ...sent } = headers;
    // Their order is nobody's business.
    const named = Object.entries(sent).sort();
    response.writeHead(200, { 'x-a': '1' }).end(JSON.stringify({ method, url, named, body }));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, origin: `http://127.0.0.1:${server.address().port}` };
};

/** The boundary of a form is random. Old versions of Node change it for a redirect. */
const comparable = (text) => {
  const boundary = /boundary=([\w-]+)/.exec(text)?.[1] ?? 'boundary';
  return text.replaceAll(boundary, 'boundary').replace(/-*(formdata-[\w-]+|boundary)-*/gi, 'boundary');
};
/** The Fetch standard leaves out the fragment. Bun does not. */
const withoutFragment = (url) => url.replace(/#.*/, '');

const outcomeOf = async (fetch, make) => {
  try {
    const response = await fetch(...make());
    const { status, url, redirected, type } = response;
    const headers = [...response.headers].filter(([name]) => name !== 'date');
    const text = comparable(await response.text());
    return { status, url: withoutFragment(url), redirected, type, headers, text };
  } catch (error) {
    return { name: error?.name, message: error?.message, cause: error?.cause?.code };
  }
};

/** The detached bytes of a redirect are a fault of these versions, which payingFetch avoids. */
const isPlatformFault = (name, plain) =>
  /^(bytes|a buffer|a view) to (301|302|307|308)/.test(name) && plain.message === 'fetch failed';

/** The rows whose two outcomes differ. */
export const differences = async (payingFetch) => {
  const { server, origin } = await startEcho();
  const plain = (url, init) => fetch(url, init);
  const paying = payingFetch(plain, {
    baseUrl: 'http://127.0.0.1:9',
    delegateKey: 'dk_test_secretOfTheDelegate0000000000000000000000002D8PGE',
    maxAmount: 5000n,
  });
  const found = [];
  let compared = 0;
  for (const [name, make] of rows(origin)) {
    const [expected, actual] = [await outcomeOf(fetch, make), await outcomeOf(paying, make)];
    compared += 1;
    const isRight = isPlatformFault(name, expected)
      ? actual.status === 200
      : JSON.stringify(actual) === JSON.stringify(expected);
    if (!isRight) found.push({ name, expected, actual });
  }
  server.closeAllConnections();
  server.close();
  return { compared, found };
};

const [, program, sdk] = process.argv;
if (sdk !== undefined && program.endsWith('same-as-fetch.mjs')) {
  const { payingFetch } = await import(sdk);
  console.log(JSON.stringify(await differences(payingFetch)));
}
