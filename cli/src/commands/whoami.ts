import type { Command } from 'commander';
import { COUNTED_NAMES } from '../../../sdk/src/generated/limits.ts';
import { displayUsdc } from '../../../sdk/src/generated/usdc.ts';
import { type Context, contextOf, print } from '../context.ts';
import type { Io } from '../io.ts';
import { properties } from '../text/text.ts';

const limitText = (limit: string | null, remaining: string | null): string | null =>
  limit === null ? null : `${displayUsdc(limit)}, ${displayUsdc(remaining ?? '0')} left`;

const ofDelegate = async (context: Context): Promise<void> => {
  const { environment, url } = context;
  const delegate = await (await context.payer()).identity.getOwnDelegate();
  const { delegate_id, name, status, limits, usage } = delegate;
  print(context, { kind: 'delegate_key', environment, url, delegate }, () =>
    properties([
      ['Key', `of the delegate “${name}” (${delegate_id}), ${status}`],
      ['Environment', `${environment} at ${url}`],
      ['Per payment', limits.per_payment === null ? null : displayUsdc(limits.per_payment)],
      ...COUNTED_NAMES.map((name): [string, string | null] => [
        `${name[0]!.toUpperCase()}${name.slice(1).replaceAll('_', ' ')}`,
        limitText(limits[name], usage[name].remaining),
      ]),
    ]),
  );
};

const ofService = async (context: Context): Promise<void> => {
  const { environment, url } = context;
  // The list is empty or not: the call is refused if the key is not valid.
  await context.vendor().quote.list({ limit: '1' });
  print(context, { kind: 'service_key', environment, url }, () =>
    properties([
      ['Key', 'of a service'],
      ['Environment', `${environment} at ${url}`],
    ]),
  );
};

const ofAccount = async (context: Context): Promise<void> => {
  const { environment, url } = context;
  const { account_id, email } = await (await context.signedIn()).identity.getAccount();
  print(context, { kind: 'account', account_id, email, environment, url }, () =>
    properties([
      ['Account', account_id],
      ['E-mail', email],
      ['Environment', `${environment} at ${url}`],
    ]),
  );
};

export const addWhoami = (program: Command, io: Io): void => {
  program
    .command('whoami')
    .summary('show the account or the key that commands use')
    .description(
      'Shows the key in DELEGATE_KEY or SERVICE_KEY with its limits, or the account that is signed in.',
    )
    .action((_options, command: Command) => {
      const context = contextOf(io, command);
      if (context.keys.delegate !== undefined) return ofDelegate(context);
      return context.keys.service !== undefined ? ofService(context) : ofAccount(context);
    });
};
