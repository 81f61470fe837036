import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { Client } from '../../../sdk/src/main.ts';
import { type Context, contextOf } from '../context.ts';
import { UsageError } from '../errors.ts';
import { type AccountEvent, createEventFeed } from '../event-feed.ts';
import { following } from '../following.ts';
import { type Io, styled } from '../io.ts';
import { countOption } from '../text/numbers.ts';
import { plain } from '../text/text.ts';
import { newWebhookSecret, signedHeaders } from '../webhooks.ts';

/** Of one event. The API itself retries for days. */
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
const ANSWER_MS = 15_000;
const PAGE = '100';

type Options = { forwardTo: string; events?: string[]; count?: string };
type Listener = {
  context: Context;
  target: string;
  secret: string;
  wanted: readonly string[];
};

const isWanted = (wanted: readonly string[], type: string): boolean =>
  wanted.some(
    (each) => each === '*' || each === type || (each.endsWith('.*') && type.startsWith(each.slice(0, -1))),
  );

/** The body of a delivery, as the API sends it to a webhook endpoint. */
const bodyOf = ({ event_id: id, type, created_at: timestamp, data }: AccountEvent): string =>
  JSON.stringify({ id, type, timestamp, data });

const report = ({ io, isJson }: Context, line: Record<string, unknown>, text: string): void =>
  io.out(`${isJson ? JSON.stringify(line) : text}\n`);

/** Sends an event once. Returns the status of the answer, or the reason why there is none. */
const post = async ({ context, target, secret }: Listener, event: AccountEvent): Promise<number | string> => {
  const body = bodyOf(event);
  const headers = signedHeaders(secret, { id: event.event_id, body, now: Date.now() });
  try {
    const response = await context.fetch(target, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    context.io.signal.throwIfAborted();
    const { message, cause } = error as Error & { cause?: { code?: string } };
    return cause?.code ?? message;
  }
};

/** Sends an event until it is accepted, at most as often as RETRY_MS allows. */
const forward = async (listener: Listener, event: AccountEvent): Promise<void> => {
  const { context } = listener;
  const { io } = context;
  for (let attempt = 0; ; attempt += 1) {
    const outcome = await post(listener, event);
    const delivered = typeof outcome === 'number' && outcome >= 200 && outcome < 300;
    const waitMs = delivered ? undefined : RETRY_MS[attempt];
    const { event_id, type, object_id } = event;
    const again = delivered
      ? ''
      : waitMs === undefined
        ? ', not sent again'
        : `, again in ${waitMs / 1000} s`;
    const shown = styled(io, delivered ? 'green' : 'red', plain(String(outcome)));
    report(
      context,
      { event_id, type, object_id, outcome, delivered, retry_in_ms: waitMs ?? null },
      `${shown}  ${type}  ${object_id}  ${event_id}${again}`,
    );
    if (waitMs === undefined) return;
    await sleep(waitMs, undefined, { signal: io.signal });
  }
};

const listen = async (listener: Listener, client: Client, count: number): Promise<void> => {
  const { context, wanted, target, secret } = listener;
  const { io, environment } = context;
  const feed = createEventFeed(() => client.webhook.listEvents({ limit: PAGE }, { signal: io.signal }));
  const follow = following(io, 'The events', feed.read);
  await follow.begin();
  report(
    context,
    { listening: true, environment, forward_to: target, secret },
    [
      `Forwarding the events of ${environment} from now on to ${target}`,
      `Secret: ${secret}`,
      'Ctrl-C ends it.',
    ].join('\n'),
  );
  for (let forwarded = 0; ; ) {
    const events = (await follow.next()).filter(({ type }) => isWanted(wanted, type));
    for (const event of events) {
      await forward(listener, event);
      forwarded += 1;
      if (forwarded >= count) return;
    }
  }
};

const targetOf = (text: string): string => {
  // `localhost:8080/hooks` is what people write.
  const url = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `http://${text}`);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`--forward-to: "${text}" is not an address like http://localhost:8080/hooks`);
  return url.href;
};

const secretOf = ({ QUITTANCE_WEBHOOK_SECRET: secret }: Io['env']): string => {
  if (secret === undefined || secret === '') return newWebhookSecret();
  if (/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) return secret;
  throw new UsageError('QUITTANCE_WEBHOOK_SECRET is not a secret like whsec_…');
};

export const addListen = (program: Command, io: Io): void => {
  program
    .command('listen')
    .summary('forward events to a server on this machine')
    .description(
      'Forwards the events of your account, from now on, to a server on this machine. Each is signed as Standard ' +
        'Webhooks with a secret of this run, which is printed first; QUITTANCE_WEBHOOK_SECRET sets another one. An ' +
        'event that is not accepted is sent again up to 5 times.',
    )
    .requiredOption('--forward-to <url>', 'where events are sent, like localhost:8080/hooks')
    .option('--events <type...>', 'forward these types only, like settlement.issued or settlement.*')
    .option('--count <number>', 'end after this many events')
    .action(async (_options, command: Command) => {
      const context = contextOf(io, command);
      const { forwardTo, events: wanted = ['*'], count } = command.opts<Options>();
      const listener = { context, target: targetOf(forwardTo), secret: secretOf(io.env), wanted };
      const most = count === undefined ? Number.POSITIVE_INFINITY : countOption(count, '--count');
      const client = await context.signedIn();
      try {
        await listen(listener, client, most);
      } catch (error) {
        // Ctrl-C is how this command ends.
        if (!io.signal.aborted) throw error;
      }
    });
};
