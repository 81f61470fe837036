import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { createApi, must } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { LOCAL_API } from '../../shared/lib/local-api.ts';
import { createShopProject } from '../support/actors/shops.ts';
import { waitFor } from '../support/base/wait.ts';
import { PYTHON_PACKAGES, pythonWith } from '../support/others/gate-upstreams.ts';
import { createCommandLine } from '../support/packages/command-line.ts';
import { packages } from '../support/packages/packages.ts';
import {
  createShell,
  fileOf,
  gateValues,
  guideSnippets,
  installCommands,
  type Snippet,
  withValues,
} from '../support/rules/guide-snippets.ts';
import { answer, type Receiver, startReceiver } from '../support/servers/receiver.ts';
import { runningStack } from '../support/servers/stack.ts';

/**
 * Runs every snippet of every guide in order, as a reader does, against the whole system. The
 * values that a reader replaces are those of this test.
 */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');
const snippets = guideSnippets();
const ofGuide = (name: string) => snippets.filter(({ guide }) => guide === name);
const PROGRAMS = ['sh', 'ts', 'python'];

/** Snippets that are not run, each with its reason. The list may only get shorter. */
const NOT_RUN: readonly [guide: string, code: RegExp, reason: string][] = [
  ['any-api', /npm pack/, 'it installs from the registry what this test has installed'],
  ['quickstart-vendor', /npm pack/, 'it installs from the registry what this test has installed'],
  ['refunds', /npm install/, 'it installs from the registry what this test has installed'],
  ['agents', /--http/, 'it serves until it is stopped; test/interop/mcp.test.ts runs it'],
];
const isRun = ({ guide, code, language }: Snippet) =>
  PROGRAMS.includes(language) && !NOT_RUN.some(([name, text]) => name === guide && text.test(code));

/** What a guide must print, besides that no command of it fails. */
const PRINTED: Record<string, readonly RegExp[]> = {
  'any-api': [
    /\n402\n/,
    /"report": "All is well.", "paid": "50000"/,
    /200 3200\n/,
    /ok {5}GET \/report asks for its price\n[\s\S]*ok {5}GET \/answer has no cheaper method\n/,
  ],
  'quickstart-vendor': [/\n402\n/, /All is well/, /deliver\n/, /"replayed":true/],
  'quickstart-buyer': [/\{ report: 'All is well.' \} 50000/, /"report":"All is well\."/],
  'llm-by-tokens': [
    /\n402\n/,
    /200 1802\n[\s\S]*"content":"well\."[\s\S]*: quittance-usage charged=1802, left=981980\n/,
  ],
  checkout: [/\/pay\/test\/pl_\w+\n/, /true\n<title>.*<\/title>/],
  python: [
    /200 \{'report': 'All is well\.'\}\n/,
    /\n402\n[\s\S]*200 \{'report': 'All is well\.', 'paid': '50000'\}\n/,
    /received settlement\.redeemed/,
    /\{'gross': '\d+'/,
  ],
  books: [/"20\d\d-[^"]+Z","[1-9A-HJ-NP-Za-km-z]{32,44}","\d+","\d+"/],
  'quickstart-agent': [/All is well/, /"remaining"/],
  authentication: [/"per_payment"/, /"has_more"|"next_cursor"/, /"environments"/, /"api_key":"vendor_test_/],
  idempotency: [/same payment: true/, /"quote_id":"(\w+)"[\s\S]*"quote_id":"\1"/],
  errors: [/"money_moved":"no"/, /limit_exceeded no raise_limit http/],
  'test-environment': [/"payment_attempt_id"|"settlement_id"/],
  'crash-recovery': [/200 (stl_\w+)\n200 \1\n/],
  'payment-links': [/\/pay\/test\/pl_\w+/, /"single_use":true/],
  refunds: [/ref_\w+ (submitted|confirmed)/],
  'proxies-and-browsers': [/allow-headers: content-type, x-payment-request-id, x-settlement-id/i],
  webhooks: [/received settlement\.redeemed/, /"secret":"whsec_/, /"event_id"/],
  receipts: [/stl_\w+ 2500000/],
  agents: [/All is well/, /All is well.* 50000/],
  metered: [
    /"max_amount":"1000000"[\s\S]*\n402\n/,
    /200 \{\s*settlementId: 'stl_\w+',\s*chargedMicro: '500',\s*leftMicro: '985000'/,
    /tokens: 320 \} 3200\n/,
    /data: well\.\n\n: quittance-usage charged=30000\n/,
    /"used":"120000","left":"380000"/,
    /"captured_amount":"120000"/,
  ],
};
/** Packages of Python that guides name. Where they are not installed, the guide is not run. */
const PYTHON = pythonWith(['fastapi', 'uvicorn', 'flask', 'jwt', 'cryptography']);
if (PYTHON === null) console.warn('the guide for Python is not run: its packages are not on this machine');
const RUN = Object.entries(PRINTED).filter(([name]) => name !== 'python' || PYTHON !== null);
/** What a process in the background prints before the next snippet can use it. */
const READY: readonly [RegExp, RegExp][] = [[/quittance listen/, /Forwarding|Listening|whsec_/i]];

let project: Awaited<ReturnType<typeof createShopProject>>;
const line = createCommandLine(stack);
let receiver: Receiver;
const shells: ReturnType<typeof createShell>[] = [];
let env: Record<string, string>;
let shopUrl = '';
const ports = createPortPicker();

const shellOf = (name: string) => {
  const shell = createShell(project.folder, name, env);
  shells.push(shell);
  return shell;
};

const startShop = async (): Promise<string> => {
  const port = await ports.any();
  const { code } = ofGuide('quickstart-vendor').find((each) => each.code.startsWith('// vendor.ts'))!;
  writeFileSync(path.join(project.folder, 'shop.ts'), code.replaceAll('8402', String(port)));
  const shell = shellOf('shop');
  await shell.run('node shop.ts &');
  const url = `http://127.0.0.1:${port}`;
  await waitFor(
    () => fetch(`${url}/report`).then(({ status }) => status, shell.output),
    (status) => status === 402,
  );
  return url;
};

beforeAll(async () => {
  const [made, vendor, consumer, hooks] = await Promise.all([
    createShopProject(),
    createVendor(api, stack),
    createConsumer(api, stack),
    startReceiver(answer(204)),
  ]);
  [project, receiver] = [made, hooks];
  const delegate = await createDelegate(api, consumer, { daily: '90000000' });
  const attempt = crypto.randomUUID();
  const quote = await quoteOf(api, vendor);
  const paid = await must(settleWith(api, delegate.api_key, quote, attempt), 'settle');
  await line.login(consumer.signIn.account.email);
  const bin = path.join(project.folder, 'bin');
  const gate = path.join((await packages()).files('gate'), 'dist/quittance-gate.js');
  installCommands(bin, { cli: line.program, gate, python: PYTHON ?? undefined });
  for (const scope of ['@types', '@solana'])
    symlinkSync(path.join(root, 'node_modules', scope), path.join(project.folder, 'node_modules', scope));
  const payoutKeyFile = path.join(line.folder, 'payout.json');
  writeFileSync(payoutKeyFile, JSON.stringify([...vendor.payout.secretKey]));
  env = {
    PATH: `${bin}${path.delimiter}${process.env.PATH}`,
    PYTHONPATH: PYTHON_PACKAGES,
    PYTHONDONTWRITEBYTECODE: 'yes',
    HOME: line.folder,
    XDG_CONFIG_HOME: path.join(line.folder, 'config'),
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_ID: vendor.serviceId,
    SERVICE_KEY: vendor.apiKey,
    DELEGATE_KEY: delegate.api_key,
    API: stack.gateway_url,
    ACCESS_TOKEN: vendor.signIn.access_token,
    SETTLEMENT_ID: paid.settlement_id,
    PAYMENT_ATTEMPT_ID: attempt,
    WEBHOOK_URL: receiver.url,
    PAYOUT_KEY_FILE: payoutKeyFile,
  };
  // The guide for Python has the reader save it.
  const [hooks_py] = ofGuide('webhooks').filter(({ language }) => language === 'python');
  writeFileSync(path.join(project.folder, 'hooks.py'), hooks_py!.code);
  shopUrl = await startShop();
});
afterAll(async () => {
  for (const shell of shells) shell.stop();
  await Promise.all([project?.stop(), receiver?.stop()]);
  line.remove();
});

/** The values in the place of a guide's, the ports first, because addresses contain digits. */
const valuesOf = async (): Promise<[string, string][]> => [
  ['8402', String(await ports.any())],
  ['8080', String(await ports.any())],
  ...(await gateValues(ports)),
  [LOCAL_API, stack.gateway_url],
  ['https://api.example.com', shopUrl],
  ['vendor_test_…', env.SERVICE_KEY!],
  ['dk_test_…', env.DELEGATE_KEY!],
];

test('every snippet has a language that this test knows, JSON is valid, and every exception is needed', () => {
  expect(snippets.filter(({ language }) => ![...PROGRAMS, 'json', 'text'].includes(language))).toEqual([]);
  for (const { language, code } of snippets) if (language === 'json') JSON.parse(code);
  const uses = NOT_RUN.map(([name, text]) => ofGuide(name).filter(({ code }) => text.test(code)).length);
  expect(uses).toEqual(NOT_RUN.map(() => 1));
  const run = new Set(snippets.filter(isRun).map(({ guide }) => guide));
  expect(run).toEqual(new Set(Object.keys(PRINTED)));
});

test('the TypeScript of the guides has no type error', () => {
  const folder = path.join(project.folder, 'types');
  mkdirSync(folder);
  const programs = snippets.filter(({ language }) => language === 'ts');
  for (const [index, { guide, code }] of programs.entries())
    writeFileSync(path.join(folder, `${guide}-${index}.ts`), code);
  const options = { strict: true, noUncheckedIndexedAccess: true, skipLibCheck: true, noEmit: true };
  const places = { module: 'nodenext', target: 'es2024', types: ['node'] };
  const config = { compilerOptions: { ...options, ...places } };
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  expect(spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout).toBe('');
});

test.each(RUN)('%s: every snippet runs, in order', async (name, printed) => {
  const shell = shellOf(name);
  const values = await valuesOf();
  for (const [index, snippet] of ofGuide(name).filter(isRun).entries()) {
    const code = withValues(snippet.code, values, env);
    const file = fileOf(snippet, index);
    if (snippet.language !== 'sh') writeFileSync(path.join(project.folder, file.name), code);
    if (snippet.language === 'sh') await shell.run(code);
    else if (!file.named) await shell.run(`${snippet.language === 'ts' ? 'node' : 'python3'} ${file.name}`);
    for (const [started, ready] of READY)
      if (started.test(code)) await waitFor(shell.output, (text) => ready.test(text));
  }
  for (const text of printed) await waitFor(shell.output, (output) => text.test(output));
});

(PYTHON === null ? test.skip : test)(
  'the Flask app of the guide for Python is paid for behind a gate',
  async () => {
    for (const name of ['flask_app.py', 'pay.py']) {
      const { code } = ofGuide('python').find((each) => each.code.startsWith(`# ${name}`))!;
      writeFileSync(path.join(project.folder, name), code);
    }
    const [app, gate, operations] = [await ports.any(), await ports.any(), await ports.any()];
    const url = `http://127.0.0.1:${gate}/report`;
    const shell = shellOf('flask');
    await shell.run(`python3 -m flask --app flask_app run --port ${app} &`);
    await shell.run(
      `PUBLIC_URL=http://127.0.0.1:${gate} npx --no-install quittance-gate --upstream http://127.0.0.1:${app} --price 'GET /report=$0.05' --listen 127.0.0.1:${gate} --operations 127.0.0.1:${operations} &`,
    );
    await waitFor(shell.output, (text) =>
      /Running on[\s\S]*the gate serves|the gate serves[\s\S]*Running on/.test(text),
    );
    await shell.run(`python3 pay.py ${url}`);
    await waitFor(shell.output, (text) => text.includes("200 {'paid': '50000', 'report': 'All is well.'}"));
  },
  120_000,
);

test('the Python of the webhooks guide accepts a delivery as it was signed, and no other', () => {
  const { code } = ofGuide('webhooks').find(({ language }) => language === 'python')!;
  writeFileSync(path.join(project.folder, 'verify.py'), code);
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
  const [id, body, now] = ['evt_1', '{"type":"webhook.test"}', new Date()];
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(id, now, body),
  };
  const verify = (sent: string) => {
    const call = `from verify import verify; import json, sys; verify(sys.argv[1].encode(), json.loads(sys.argv[2]), sys.argv[3])`;
    return execFileSync('python3', ['-c', call, sent, JSON.stringify(headers), secret], {
      cwd: project.folder,
      stdio: 'pipe',
    });
  };
  verify(body);
  expect(() => verify(body.replace('test', 'other'))).toThrow('the signature is not valid');
});
