import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import {
  ApiError,
  type Client,
  createClient,
  ForbiddenError,
  NoAnswerError,
  type Output,
} from '../../../sdk/src/main.ts';
import { type Context, contextOf, print } from '../context.ts';
import { NotSignedInError } from '../errors.ts';
import { type Io, styled, withProgress } from '../io.ts';
import type { SignIn } from '../sign-ins.ts';
import { plain } from '../text/text.ts';

type Begun = Output<'identity.startDeviceSignIn'>;
type Authorized = Extract<Output<'identity.pollDeviceSignIn'>, { status: 'authorized' }>;

/** The name that the console shows. The API accepts visible text of at most 80 characters. */
const clientName = (): string => plain(`quittance on ${hostname()}`).slice(0, 80);

/** Waits for the person. RFC 8628 3.5: no answer and `slow down` mean to ask again later. */
const confirmed = async (
  client: Client,
  { device_code, expires_in, interval }: Begun,
  signal: AbortSignal,
): Promise<Authorized> => {
  const endsAt = Date.now() + expires_in * 1000;
  let waitMs = interval * 1000;
  for (;;) {
    await sleep(waitMs, undefined, { signal });
    if (Date.now() > endsAt)
      throw new NotSignedInError(
        'the code has expired before it was confirmed',
        'Run `quittance login` again.',
      );
    try {
      const answer = await client.identity.pollDeviceSignIn({ device_code }, { signal });
      if (answer.status === 'authorized') return answer;
    } catch (error) {
      if (error instanceof ForbiddenError)
        throw new NotSignedInError(
          error.message,
          'Nothing was stored. Run `quittance login` to begin again.',
        );
      if (!(error instanceof NoAnswerError) && !(error instanceof ApiError && error.retryable)) throw error;
      waitMs = Math.max(waitMs, error.retryAfterMs ?? 0);
    }
  }
};

/** Ends the sign-in that a new one replaces. If this fails, it ends by itself. */
const endPrevious = async (
  { url, fetch }: Context,
  { access_token, refresh_token }: SignIn,
): Promise<void> => {
  const client = createClient({ baseUrl: url, credential: access_token, fetch, maxRetries: 0 });
  await client.identity.logout({ refresh_token }).catch(() => undefined);
};

const login = async (context: Context): Promise<void> => {
  const { io, environment, url, signIns } = context;
  const client = context.clientOf();
  const begun = await client.identity.startDeviceSignIn({ client_name: clientName(), environment });
  io.err(
    [
      `To sign in to ${environment}, open this page and type the code:`,
      '',
      `  ${begun.verification_uri_complete}`,
      '',
      `  ${styled(io, 'bold', begun.user_code)}`,
      '',
      '',
    ].join('\n'),
  );
  const answer = await withProgress(io, 'Waiting for you to allow it …', () =>
    confirmed(client, begun, io.signal),
  );
  const previous = await signIns.load();
  const { account, access_token, refresh_token } = answer;
  await signIns.save({ url, environment, account, access_token, refresh_token: refresh_token! });
  if (previous !== null) await endPrevious(context, previous);
  print(
    context,
    { ...account, environment, url },
    () => `Signed in to ${environment} as ${plain(account.email)}.`,
  );
};

const logout = async (context: Context): Promise<void> => {
  const { environment, signIns } = context;
  const held = await signIns.load();
  if (held !== null) await endPrevious(context, held);
  await signIns.remove();
  print(context, { signed_out: held !== null, environment }, () =>
    held === null ? `You were not signed in to ${environment}.` : `Signed out of ${environment}.`,
  );
};

export const addLogin = (program: Command, io: Io): void => {
  program
    .command('login')
    .summary('sign in, confirmed in the console')
    .description(
      'Signs in. It shows a code and the address of a page. You type the code there, signed in to the console. ' +
        'It reads your account, pays within the limits of the account, and creates delegates with limits. ' +
        'The sign-in is stored in a file that only you can read, for each address and environment.',
    )
    .action((_options, command: Command) => login(contextOf(io, command)));
  program
    .command('logout')
    .summary('end the sign-in of this machine')
    .description('Ends the stored sign-in in the API and removes it from this machine.')
    .action((_options, command: Command) => logout(contextOf(io, command)));
};
