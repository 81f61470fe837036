import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { Keypair } from '@solana/web3.js';
import {
  createConsumer,
  createDelegate,
  createVendor,
  quoteOf,
  settleWith,
} from '../../deploy/local/seed/actors.ts';
import { must } from '../../deploy/local/seed/api.ts';
import { startBrowser } from '../../test/support/browser/browser.ts';
import { type ConsolePage, openConsole, signInPerson } from '../../test/support/browser/console.ts';
import type { Benchmark } from '../harness/run.ts';
import { type BenchStack, startBenchStack } from '../harness/stack.ts';
import { percentile, summary } from '../harness/statistics.ts';

const PAYMENTS = 12;
const VIEWS = [
  ['desktop', 'light'],
  ['desktop', 'dark'],
  ['phone', 'light'],
  ['phone', 'dark'],
] as const;

/** Every page of the console with data: how long until it is shown, and whether it has faults. */
export const consolePages: Benchmark = {
  about: 'every page of the console in Chromium: time until its data is shown, findings of axe, pictures',
  run: async (run) => {
    const { report, options } = run;
    const root = path.resolve(import.meta.dirname, '../..');
    execFileSync(process.execPath, [path.join(root, 'console/build.ts')], { cwd: root, stdio: 'ignore' });
    const bench = await startBenchStack(run, 'stack', { chainSlotMs: 0 });
    const browser = await startBrowser();
    run.defer(() => browser.close());
    report.progress('making payments');
    const { email, paths } = await accountWithData(bench);

    // Each has its own sign-in: a refresh token works once, and a copy of it ends the sign-in.
    const open = async (width: 'desktop' | 'phone', colours: 'light' | 'dark') =>
      openConsole(browser, bench.stack, {
        person: await signInPerson(bench.stack, { email }),
        width,
        colours,
      });
    const page = await open('desktop', 'light');
    const times: Record<string, number[]> = {};
    for (let round = 0; round <= options.rounds; round += 1) {
      for (const each of paths) {
        report.progress(`round ${round} of ${options.rounds}: ${each}`);
        const ms = await timeToData(page, `${bench.stack.console_url}${each}`);
        // The first round fills the browser's cache.
        if (round > 0) times[each] = [...(times[each] ?? []), ms];
      }
    }
    await page.close();
    const all = Object.values(times).flat();
    report.table(
      'from the navigation until the data is shown, ms',
      ['', 'min', 'median', 'max'],
      Object.entries(times).map(([name, values]) => {
        const { min, median, max } = summary(values);
        return [name, min, median, max];
      }),
    );
    report.table(
      'all pages, ms',
      ['', 'p50', 'p75', 'p99'],
      [['', percentile(all, 0.5), percentile(all, 0.75), percentile(all, 0.99)]],
    );

    const faults: string[] = [];
    for (const [width, colours] of VIEWS) {
      const view = await open(width, colours);
      for (const each of paths) {
        report.progress(`${width}, ${colours}: ${each}`);
        await view.go(each);
        if (await view.page.getByRole('heading', { name: 'Sign in' }).isVisible())
          throw new Error('the sign-in has ended');
        const name = each === '/' ? 'home' : each.split('/')[1]!;
        await view.shoot(`page-${name}${each.split('/').length > 2 ? '-one' : ''}`);
        const found = [...(await view.findings()), ...(await view.wider())];
        faults.push(...found.map((fault) => `${each} ${width} ${colours}: ${fault}`));
      }
      faults.push(...view.problem());
      await view.close();
    }
    for (const fault of faults) report.note(fault);
    report.note(
      `${paths.length} pages, ${VIEWS.length} views of each, pictures in .local/console-shots/page-*`,
    );
    report.target({
      what: 'faults: axe, errors, the policy, pages wider than the screen',
      value: faults.length,
      atMost: 0,
    });
  },
};

/** From the navigation until a heading is shown and nothing is loading. */
const timeToData = async ({ page }: ConsolePage, url: string): Promise<number> => {
  await page.goto(url, { waitUntil: 'commit' });
  return page.evaluate<number>(`new Promise((resolve) => {
    const check = () => {
      const isShown = document.querySelector('main h1') !== null && document.querySelector('.loading') === null;
      if (isShown) resolve(performance.now());
      else requestAnimationFrame(check);
    };
    check();
  })`);
};

/** An account that sells and pays, and the paths of all pages that it has. */
const accountWithData = async ({ api, stack }: BenchStack): Promise<{ email: string; paths: string[] }> => {
  const email = `console-${crypto.randomUUID().slice(0, 8)}@example.com`;
  const own = await createVendor(api, stack, { email });
  const consumer = await createConsumer(api, stack, { email });
  const [buyer, shop] = [await createConsumer(api, stack), await createVendor(api, stack)];
  const delegate = await createDelegate(api, consumer, { per_payment: '5000000', daily: '50000000' });
  const paid: string[] = [];
  const sold: string[] = [];
  for (let count = 0; count < PAYMENTS; count += 1) {
    const payer = count % 2 === 0 ? delegate.api_key : consumer.token;
    paid.push((await must(settleWith(api, payer, await quoteOf(api, shop)), 'pay')).settlement_id);
    sold.push((await must(settleWith(api, buyer.token, await quoteOf(api, own)), 'sell')).settlement_id);
  }
  const { endpoint_id } = await must(
    api<{ endpoint_id: string }>('POST /v1/webhook-endpoints', {
      token: own.signIn.access_token,
      body: { url: `http://${Keypair.generate().publicKey.toBase58().toLowerCase()}.example/hooks` },
    }),
    'create endpoint',
  );
  return {
    email,
    paths: [
      '/',
      '/wallet',
      '/delegates',
      '/approvals',
      '/activity',
      `/payments/${paid[0]}`,
      '/deposits',
      '/withdrawals',
      '/services',
      `/services/${own.serviceId}`,
      '/sales',
      `/sales/${sold[0]}`,
      '/sales/statement',
      '/webhooks',
      `/webhooks/${endpoint_id}`,
      '/try',
      '/integrate',
      '/developers',
      '/requests',
      '/account',
    ],
  };
};
