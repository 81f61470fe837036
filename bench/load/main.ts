// The load process. It receives a job from its parent, makes the calls over keep-alive connections
// and returns the duration of each. Each connection has its own client of undici, so no call waits
// for another of ours.
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'undici';
import type { Call, CallsJob, Job, Outcome, PaymentsJob, Step } from './job.ts';

type Answer = { status: number; text: string };
type Counted = Pick<CallsJob, 'counted' | 'countedText'>;
type Send = (step: Step, call: Call) => Promise<Answer>;

const run = async (job: Job): Promise<Outcome> => {
  const outcome: Outcome = { times: {}, elapsedMs: 0, statuses: {}, others: { count: 0 } };
  const clients = Array.from(
    { length: job.concurrency },
    // A settle may wait 15 s for its confirmation, and 64 concurrent settles may wait for a machine
    // with two cores.
    () => new Client(job.origin, { pipelining: 1, headersTimeout: 60_000, keepAliveTimeout: 60_000 }),
  );
  const { counted, countedText = '' }: Counted = job.kind === 'calls' ? job : {};
  const senders = clients.map((client): Send => {
    const from = { outcome, client, counted, countedText };
    return (step, call) => timed(from, step, call);
  });
  const startedAt = performance.now();
  if (job.kind === 'calls') await makeCalls(job, senders, outcome);
  else await makePayments(job, senders);
  outcome.elapsedMs = performance.now() - startedAt;
  await Promise.all(clients.map((client) => client.close()));
  return outcome;
};

const timed = async (
  {
    outcome,
    client,
    counted,
    countedText,
  }: { outcome: Outcome; client: Client; counted: number | undefined; countedText: string },
  step: Step,
  call: Call,
): Promise<Answer> => {
  const startedAt = performance.now();
  const answer = await send(client, call).catch(
    (error: Error): Answer => ({ status: 0, text: `${error.name}: ${error.message}` }),
  );
  const { status, text } = answer;
  outcome.statuses[status] = (outcome.statuses[status] ?? 0) + 1;
  const isSuccess = (status >= 200 && status < 300) || status === counted;
  if (isSuccess && (counted === undefined || status === counted) && !text.includes(countedText)) {
    outcome.others.count += 1;
    outcome.others.first ??= text.slice(0, 500);
  } else if (isSuccess && (counted === undefined || status === counted)) {
    outcome.times[step] ??= [];
    outcome.times[step].push(performance.now() - startedAt);
  } else if (!isSuccess)
    outcome.firstFailure ??= `${step} ${call.method} ${call.path}: ${status} ${text.slice(0, 500)}`;
  return answer;
};

const send = async (client: Client, { method, path, token, body }: Call): Promise<Answer> => {
  const response = await client.request({
    method,
    path,
    headers: {
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body ?? null,
  });
  return { status: response.statusCode, text: await response.body.text() };
};

const makeCalls = async (job: CallsJob, senders: Send[], outcome: Outcome): Promise<void> => {
  const { calls, restUpToMs = 0, repeat = false, keepBodies = false } = job;
  const { seconds = Number.POSITIVE_INFINITY } = job;
  const endsAt = performance.now() + seconds * 1000;
  const bodies: string[] = [];
  let next = 0;
  await Promise.all(
    senders.map(async (sender) => {
      for (;;) {
        if (restUpToMs > 0) await sleep(Math.random() * restUpToMs);
        if (performance.now() >= endsAt || !(repeat || next < calls.length)) return;
        const index = next++;
        const { text } = await sender('call', calls[index % calls.length]!);
        if (keepBodies) bodies[index] = text;
      }
    }),
  );
  if (keepBodies) outcome.bodies = bodies;
};

const makePayments = async (job: PaymentsJob, senders: Send[]): Promise<void> => {
  const { vendor, payerTokens, seconds, perSecond } = job;
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  let next = 0;
  await Promise.all(
    senders.map(async (sender) => {
      while (performance.now() < endsAt) {
        const index = next++;
        if (perSecond !== undefined) {
          const at = startedAt + (index * 1000) / perSecond;
          if (at >= endsAt) return;
          await sleep(Math.max(0, at - performance.now()));
        }
        await pay(sender, vendor, payerTokens[index % payerTokens.length]!);
      }
    }),
  );
};

const pay = async (sender: Send, vendor: PaymentsJob['vendor'], token: string): Promise<void> => {
  const post = (path: string, caller: string, body: object): Call => ({
    method: 'POST',
    path,
    token: caller,
    body: JSON.stringify(body),
  });
  const quoted = await sender('quote', post('/v1/quote', vendor.apiKey, { service_id: vendor.serviceId }));
  if (quoted.status !== 201) return;
  const { quote_token } = JSON.parse(quoted.text) as { quote_token: string };
  const attempt = { quote_token, payment_attempt_id: crypto.randomUUID() };
  const paid = await sender('settle', post('/v1/settle', token, attempt));
  // 202: not confirmed in time. It is in the statuses, and nothing can be redeemed yet.
  if (paid.status !== 200) return;
  const { settlement_id, settlement_token } = JSON.parse(paid.text) as {
    settlement_id: string;
    settlement_token: string;
  };
  await sender(
    'redeem',
    post(`/v1/settlements/${settlement_id}/redeem`, vendor.apiKey, { settlement_token }),
  );
};

process.on('message', (job: Job) => void run(job).then((outcome) => process.send!(outcome)));
// If the parent is killed, no process must remain that keeps calling.
process.on('disconnect', () => process.exit());
process.send!('ready');
