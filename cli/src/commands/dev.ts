import path from 'node:path';
import type { Command } from 'commander';
import { UnauthorizedError } from '../../../sdk/src/main.ts';
import { TRIAL_HEADER } from '../../../sdk/src/pay/base/dialects.ts';
import { payingFetch } from '../../../sdk/src/pay/main.ts';
import { type Context, contextOf, isLoopback, keyIn } from '../context.ts';
import type { Variables } from '../dev/env-text.ts';
import { createFiles } from '../dev/files.ts';
import { createLocalService, LOCAL_VENDOR, type LocalStack, readLocalStack } from '../dev/local-stack.ts';
import { createSalesFeed, type Sale, saleLine } from '../dev/sales.ts';
import { startTrialRoute, TRIAL_PRICE } from '../dev/trial-route.ts';
import { FailedError, NotSignedInError, UsageError } from '../errors.ts';
import { following } from '../following.ts';
import { type Io, styled } from '../io.ts';
import { plain, shownTime } from '../text/text.ts';
import { microOption } from '../text/usdc.ts';

type Service = { serviceId: string; serviceKey: string; from: string };
type Setup = Service & { isNew: boolean };

/** The service whose id and key stand in a place. Null: neither does. */
const serviceIn = (from: string, variables: Io['env']): Service | null => {
  const { SERVICE_ID: serviceId = '', SERVICE_KEY: serviceKey = '' } = variables;
  if (serviceId === '' && serviceKey === '') return null;
  if (serviceId === '' || serviceKey === '') {
    const missing = serviceId === '' ? 'SERVICE_ID' : 'SERVICE_KEY';
    const has = serviceId === '' ? 'SERVICE_KEY' : 'SERVICE_ID';
    throw new UsageError(
      `${from} has ${has} and no ${missing}`,
      `Add ${missing}, or remove ${has} to use another service.`,
    );
  }
  const { environment } = keyIn(`SERVICE_KEY of ${from}`, serviceKey, 'service');
  if (environment !== 'test')
    throw new UsageError(`SERVICE_KEY of ${from} is a key of live, and quittance dev works in test only`);
  return { serviceId, serviceKey, from };
};

/** The address of the console. On this machine it is another host, as passkeys need it. */
const consoleOf = ({ url }: Context, stack: LocalStack | null): string => {
  if (stack !== null) return stack.consoleUrl;
  return `${isLoopback(url) ? url.replace('//127.0.0.1', '//localhost') : url}/console`;
};

const nameOf = (folder: string): string => plain(path.basename(folder)).slice(0, 60) || 'My API';

const serviceOf = async (
  context: Context,
  { folder, variables, stack }: { folder: string; variables: Variables; stack: LocalStack | null },
): Promise<Setup> => {
  const own = serviceIn('.env', variables);
  if (own !== null) return { ...own, isNew: false };
  if (stack !== null) {
    const what = { name: nameOf(folder), price: microOption(TRIAL_PRICE, 'price') };
    const { clientOf, io } = context;
    const made = await createLocalService(stack, what, { clientOf, signal: io.signal });
    return { ...made, from: 'npm start', isNew: true };
  }
  const given = serviceIn('the environment', context.io.env);
  if (given !== null) return { ...given, isNew: false };
  throw new NotSignedInError(
    'there is no service to sell with',
    `For npm start: \`quittance dev --stack <its folder>\`. Elsewhere: create a service at ${consoleOf(context, null)}/services, ` +
      'and put its SERVICE_ID and SERVICE_KEY into .env.',
  );
};

/** @throws if the API does not accept the key */
const checkKey = async (read: () => Promise<unknown>, { from }: Service, url: string): Promise<void> => {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof UnauthorizedError)) throw error;
    throw new NotSignedInError(
      `the API at ${url} does not know the SERVICE_KEY of ${from}`,
      'Its service may be of another system, or of an earlier state of npm start. Remove SERVICE_ID, SERVICE_KEY and ' +
        'DELEGATE_KEY there to get others.',
    );
  }
};

/** Asks the route for its price, so that a wrong configuration is an error of this command. */
const askPrice = async ({ fetch }: Context, trialUrl: string, faults: readonly string[]): Promise<void> => {
  const { status, body } = await fetch(trialUrl, { headers: { [TRIAL_HEADER]: 'yes' } });
  await body?.cancel();
  if (status !== 402)
    throw new FailedError(
      faults[0] ?? `the trial route answered ${status}`,
      'Check SERVICE_ID and SERVICE_KEY: both belong to one service.',
    );
};

/** The first sale of a new service, so that its vendor sees one. */
const payOnce = async (
  { io, url, fetch }: Context,
  trialUrl: string,
  delegateKey: string | null,
): Promise<void> => {
  if (delegateKey === null) return;
  try {
    const pay = payingFetch(fetch, { baseUrl: url, delegateKey, maxAmount: TRIAL_PRICE });
    await (await pay(trialUrl)).body?.cancel();
  } catch (error) {
    io.signal.throwIfAborted();
    io.err(`The trial route was not paid: ${plain((error as Error).message)}\n`);
  }
};

type Begun = {
  context: Context;
  service: Setup;
  added: readonly string[];
  /** Whether `.env` has a key that pays. */
  canPay: boolean;
  trialUrl: string;
  tryUrl: string;
};

const begunText = (
  { context, service, added, canPay, trialUrl, tryUrl }: Begun,
  stack: LocalStack | null,
): string => {
  const { io, url } = context;
  const rows = [
    ['API', url],
    ['Service', `${service.serviceId}, ${service.isNew ? `new, of ${LOCAL_VENDOR}` : `of ${service.from}`}`],
    ['.env', added.length === 0 ? 'has all variables' : `+ ${added.join(', ')}`],
    ['Your server', 'node --env-file=.env <file>'],
    ['A route to pay', `${trialUrl} (${TRIAL_PRICE})`],
    ['Pay it', `${canPay ? 'set -a; . ./.env; ' : ''}quittance pay ${trialUrl}`],
    [
      'Try it',
      stack === null ? tryUrl : `${tryUrl} (sign in as ${LOCAL_VENDOR}; its mails: ${stack.mailUrl})`,
    ],
  ] as const;
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, text]) => `${styled(io, 'bold', name.padEnd(width))}  ${plain(text)}`),
    '',
    'Sales, from now on. Ctrl-C ends it.',
    '',
  ].join('\n');
};

const report = ({ io, isJson }: Context, line: Record<string, unknown>, text: string): void =>
  io.out(isJson ? `${JSON.stringify(line)}\n` : text);

const showSale = (context: Context, sale: Sale): void => {
  const { settlement_id, status, quote_amount, net_amount, scope } = sale;
  const time = shownTime(new Date().toISOString());
  const text = `${styled(context.io, 'dim', time)}  ${plain(saleLine(sale))}\n`;
  report(context, { settlement_id, status, quote_amount, net_amount, scope }, text);
};

const dev = async (io: Io, command: Command): Promise<void> => {
  const options = command.opts<{ stack?: string }>();
  const folder = process.cwd();
  const stack = options.stack === undefined ? null : await readLocalStack(options.stack);
  const files = createFiles(folder);
  const variables = await files.variables();
  const context = contextOf(io, command, stack?.apiUrl ?? variables.QUITTANCE_URL);
  const { url } = context;
  if (context.environment !== 'test')
    throw new UsageError('quittance dev works in the test environment only');
  const before = variables.QUITTANCE_URL ?? url;
  if (before !== url)
    throw new UsageError(
      `.env is of ${plain(before)}, and this is ${url}`,
      'Use another folder, or remove QUITTANCE_URL, SERVICE_ID, SERVICE_KEY and DELEGATE_KEY from .env.',
    );
  const service = await serviceOf(context, { folder, variables, stack });
  const { serviceId, serviceKey } = service;
  const delegateKey = stack?.delegateKey ?? null;
  const added = await files.add({
    QUITTANCE_URL: url,
    SERVICE_ID: serviceId,
    SERVICE_KEY: serviceKey,
    ...(delegateKey !== null && { DELEGATE_KEY: delegateKey }),
  });
  const follow = following(io, 'The sales', createSalesFeed(context.clientOf(serviceKey), io.signal));
  await checkKey(follow.begin, service, url);
  const faults: string[] = [];
  const trialUrl = await startTrialRoute({ baseUrl: url, serviceId, serviceKey }, (fault) => {
    faults.push(fault);
  });
  await askPrice(context, trialUrl, faults);
  const tryUrl = `${consoleOf(context, stack)}/try`;
  const canPay = added.includes('DELEGATE_KEY') || 'DELEGATE_KEY' in variables;
  const begun = { context, service, added, canPay, trialUrl, tryUrl };
  report(
    context,
    { ready: true, url, service_id: serviceId, added, trial_url: trialUrl, try_url: tryUrl },
    begunText(begun, stack),
  );
  if (service.isNew) await payOnce(context, trialUrl, delegateKey);
  for (;;) for (const sale of await follow.next()) showSale(context, sale);
};

/** `quittance dev`: from a folder to a sale, in the test environment. */
export const addDev = (program: Command, io: Io): void => {
  program
    .command('dev')
    .summary('begin to sell, in the folder of your server')
    .description(
      'Prepares this folder to sell in the test environment, and shows its sales until Ctrl-C. It uses the service ' +
        'in .env, or one of SERVICE_ID and SERVICE_KEY, or with --stack makes one on the system that npm start runs ' +
        'on this machine and pays it once. It adds what is missing to .env and .gitignore, and serves a route of its ' +
        'own that you can pay.',
    )
    .option('--stack <folder>', 'the folder where npm start runs')
    .action(async (_options, command: Command) => {
      try {
        await dev(io, command);
      } catch (error) {
        // Ctrl-C is how this command ends.
        if (!io.signal.aborted) throw error;
      }
    });
};
