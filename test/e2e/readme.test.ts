import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createConsumer, createDelegate, createVendor } from '../../deploy/local/seed/actors.ts';
import { createApi } from '../../deploy/local/seed/api.ts';
import { createPortPicker } from '../../deploy/local/servers/ports.ts';
import { createShopProject } from '../support/actors/shops.ts';
import { waitFor } from '../support/base/wait.ts';
import { createShell } from '../support/rules/guide-snippets.ts';
import { runningStack } from '../support/servers/stack.ts';

/** Runs what README.md and docs/first-payment.md tell a reader to paste, in a separate project. */
const stack = runningStack();
const api = createApi(stack.gateway_url);
const root = path.resolve(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');

/** The fenced code of a language in a document. */
const snippetsOf = (file: string, language: string): string[] =>
  [...read(file).matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, code]) => code!,
  );

let project: Awaited<ReturnType<typeof createShopProject>>;
const shells: ReturnType<typeof createShell>[] = [];
let env: Record<string, string>;
let consumerToken: string;
let walletId: string;
let publicUrl: string;

const shellOf = (name: string) => {
  const shell = createShell(project.folder, name, env);
  shells.push(shell);
  return shell;
};

beforeAll(async () => {
  const [made, vendor, consumer] = await Promise.all([
    createShopProject(),
    createVendor(api, stack),
    createConsumer(api, stack),
  ]);
  project = made;
  symlinkSync(path.join(root, 'node_modules/@types'), path.join(project.folder, 'node_modules/@types'));
  const delegate = await createDelegate(api, consumer, { daily: '10000000' });
  publicUrl = `http://127.0.0.1:${await createPortPicker().any()}`;
  [consumerToken, walletId] = [consumer.token, consumer.walletId];
  env = {
    PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env.PATH}`,
    QUITTANCE_URL: stack.gateway_url,
    SERVICE_ID: vendor.serviceId,
    SERVICE_KEY: vendor.apiKey,
    DELEGATE_KEY: delegate.api_key,
    PUBLIC_URL: publicUrl,
    REPORT_URL: `${publicUrl}/report`,
  };
});
afterAll(async () => {
  for (const shell of shells) shell.stop();
  await project?.stop();
});

test('the two programs of the README have no type error, and one pays the other', async () => {
  const programs = snippetsOf('README.md', 'ts');
  expect(programs.map((code) => code.split('\n')[0])).toEqual(['// sell.ts', '// pay.ts']);
  const [sell, pay] = programs as [string, string];
  // The README copies them from there.
  expect([read('examples/sell.ts'), read('examples/pay.ts')]).toEqual([sell, pay]);
  writeFileSync(
    path.join(project.folder, 'sell.ts'),
    sell.replace('listen(8402)', `listen(${new URL(publicUrl).port})`),
  );
  writeFileSync(path.join(project.folder, 'pay.ts'), pay);
  const options =
    '--strict --noUncheckedIndexedAccess --skipLibCheck --noEmit --module nodenext --target es2024';
  const shell = shellOf('readme');
  await shell.run(`node '${root}/node_modules/typescript/bin/tsc' ${options} --types node sell.ts pay.ts`);
  await shell.run('node sell.ts &');
  await waitFor(
    () => fetch(`${publicUrl}/report`).then(({ status }) => status, shell.output),
    (status) => status === 402,
  );
  await shell.run('node pay.ts');
  expect(shell.output()).toContain("{ report: 'All is well.' } 50000");
});

test('the first payment by hand: the redeem is new once, and a deposit gets its page', async () => {
  const [payment, deposit] = snippetsOf('docs/first-payment.md', 'sh') as [string, string];
  const values: Record<string, string> = {
    CONSUMER_TOKEN: consumerToken,
    WALLET_ID: walletId,
  };
  // The assignments that a reader edits.
  const filled = (code: string) =>
    code.replaceAll(/^([A-Z_]+)=\S*/gm, (line, name: string) =>
      name in values ? `${name}='${values[name]}'` : line,
    );
  const shell = shellOf('first-payment');
  await shell.run(payment);
  await shell.run(payment.slice(payment.indexOf('# 3.')));
  expect(shell.output()).toMatch(
    /"status":"redeemed".*"replayed":false[\s\S]*"status":"redeemed".*"replayed":true/,
  );
  await shell.run(filled(deposit));
  expect(shell.output()).toMatch(/"redirect_url":"http/);
});
