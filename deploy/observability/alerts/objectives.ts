import { contractList } from '../../../shared/contract/index.ts';
import { JOURNEYS, type Journey } from '../../../shared/contract/journey.ts';
import type { HttpOperation } from '../../../shared/contract/service.ts';
import type { MetricName } from '../../../shared/lib/telemetry/metrics-catalog.ts';

/**
 * What the platform promises for each journey, over 30 days. Rules, alarms, their unit tests, the
 * dashboard and docs/objectives.md are derived from it.
 */

/** A journey with operations, or one that goes on without a call. */
export type JourneyName = Journey | 'webhooks' | 'mails';

/** How the misses and all of them are counted: a rate by environment, over a window. */
type Counted = {
  misses: (window: string) => string;
  all: (window: string) => string;
  /** The series of a case in which so many of `total` a minute miss. */
  series: (missing: number, total: number) => Record<string, string>;
};

type Objective = {
  name: 'answered' | 'quick' | 'confirmed' | 'sent';
  /** What is promised of this many of 1,000. */
  promise: string;
  of1000: number;
  counted: Counted;
};

const HTTP = 'quittance_http_request_duration_seconds' satisfies MetricName;
/** The wait that the gateway grants by default. An operation that gets more waits for others. */
const OWN_WORK_SECONDS = 5;
const QUICK_SECONDS = 1;
/** How long a settle waits before it answers 202. */
const CONFIRMED_SECONDS = 15;
const SENT_SECONDS = 30;
/** Of the cases: longer than the longest window. */
const MINUTES = 800;

/** The operations of a journey, with their ids. */
export const operationsOf = (journey: JourneyName): { id: string; operation: HttpOperation }[] =>
  contractList.flatMap(({ name: service, operations }) =>
    Object.entries<HttpOperation>(operations)
      .filter(([, operation]) => operation.journey === journey)
      .map(([name, operation]) => ({ id: `${service}.${name}`, operation })),
  );

const rate = (series: string, window: string) => `sum by (environment) (rate(${series}[${window}]))`;
const everyMinute = (value: number) => `0+${value}x${MINUTES}`;

/** Calls that are answered 5xx. A 4xx is the caller's. */
const answered = (journey: Journey): Counted => {
  const all = (window: string) => rate(`${HTTP}_count{journey="${journey}"}`, window);
  const labels = `environment="test",journey="${journey}",http_route="${operationsOf(journey)[0]!.operation.http.path}"`;
  return {
    all,
    // Without any 5xx there is no such series, and none missed.
    misses: (window) =>
      `${rate(`${HTTP}_count{journey="${journey}",http_response_status_code=~"5.."}`, window)} or 0 * ${all(window)}`,
    series: (missing, total) => ({
      [`${HTTP}_count{${labels},http_response_status_code="503"}`]: everyMinute(missing),
      [`${HTTP}_count{${labels},http_response_status_code="200"}`]: everyMinute(total - missing),
    }),
  };
};

/**
 * What takes longer than a bound of the histogram. Prometheus 2 keeps the bound as it was scraped,
 * Prometheus 3 writes each as a decimal.
 */
const within = (seconds: number, metric: MetricName, matchers = ''): Counted => {
  const comma = matchers === '' ? '' : ',';
  const all = (window: string) => rate(`${metric}_count{${matchers}}`, window);
  const sample = matchers.replaceAll(/,?\w+!~"[^"]*"/g, '');
  const labels = `environment="test"${sample === '' ? '' : `,${sample}`}`;
  return {
    all,
    misses: (window) =>
      `${all(window)} - ${rate(`${metric}_bucket{${matchers}${comma}le=~"${seconds}|${seconds}.0"}`, window)}`,
    series: (missing, total) => ({
      [`${metric}_count{${labels}}`]: everyMinute(total),
      [`${metric}_bucket{${labels},le="${seconds}.0"}`]: everyMinute(total - missing),
    }),
  };
};

const isAnswered = (journey: Journey, of1000: number): Objective => ({
  name: 'answered',
  promise: 'calls are not answered 5xx',
  of1000,
  counted: answered(journey),
});

/** Without the operations that wait for the chain, a provider or an endpoint. */
const isQuick = (journey: Journey): Objective => {
  const waiting = operationsOf(journey).filter(
    ({ operation }) => operation.timeoutSeconds > OWN_WORK_SECONDS,
  );
  const routes = waiting.map(({ operation }) => operation.http.path).join('|');
  const others = routes === '' ? '' : `,http_route!~"${routes}"`;
  return {
    name: 'quick',
    promise: `calls that wait for nobody else are answered within ${QUICK_SECONDS} s`,
    of1000: 990,
    counted: within(QUICK_SECONDS, HTTP, `journey="${journey}"${others}`),
  };
};

const confirmed: Objective = {
  name: 'confirmed',
  promise: `payments are issued within ${CONFIRMED_SECONDS} s of their acceptance, which is how long the caller waits`,
  of1000: 990,
  counted: within(CONFIRMED_SECONDS, 'quittance_confirmation_seconds'),
};

const sent = (promise: string, metric: MetricName): Objective => ({
  name: 'sent',
  promise,
  of1000: 990,
  counted: within(SENT_SECONDS, metric),
});

/** A journey: what it is for people, what is promised, and what an operator needs to know. */
type Promised = {
  about: string;
  objectives: readonly Objective[];
  /** The command of `npm run ops` to begin with, and what to search for in its answer. */
  first: string;
  means: string;
  inspect: string;
  act: string;
  never: string;
};

const AS_A_SERVICE =
  'Readiness of the gateway names what is down in which environment. `quittance_http_request_duration_seconds_count` by `http_route` and `http_response_status_code` shows which operation fails, and `quittance_bus_operation_duration_seconds_count` by `error_type` which service answers with it.';
const REMOVE =
  'Remove the cause, which usually has an alarm of its own: ProcessAbsent, RecordUnreadable, OutboxBlocked, ChainUnreadable. A ticket can wait for the morning.';

export const OBJECTIVES: Readonly<Record<JourneyName, Promised>> = {
  pay: {
    about: JOURNEYS.pay,
    objectives: [isAnswered('pay', 999), confirmed],
    first: 'stuck`: the oldest payments, and the work of chain-submitter for them',
    means:
      '`answered`: payers get 5xx. A 503 means that it is safe to repeat with the same attempt id, a 500 is a bug. `confirmed`: payments succeed after their caller has got 202, and it repeats the attempt. No money is in danger.',
    inspect: `${AS_A_SERVICE} For slow payments \`npm run ops -- payment show <settlement_id> --ticket <ticket>\` of one of them shows between which entries the time passed: before \`transaction signed\` it is our work, after it the chain or a provider.`,
    act: `${REMOVE} For slow payments do as for ConfirmationSlow.`,
    never: 'Tell payers to use a new attempt id. Shorten the time of an expiry proof.',
  },
  deliver: {
    about: JOURNEYS.deliver,
    objectives: [isAnswered('deliver', 999), isQuick('deliver')],
    first:
      'status`: what does not answer, and which other alarms are active. `undelivered` shows messages that wait',
    means:
      'Buyers have paid, or are about to, and their vendors cannot deliver. x402 servers that use this facilitator cannot sell. Vendors repeat with the same ids, and a payment that nobody redeems in its window stays with the vendor undelivered.',
    inspect: AS_A_SERVICE,
    act: `${REMOVE} Afterwards the same command shows who still waits.`,
    never:
      'Redeem for a vendor. Tell a vendor to deliver without a redeem: another replica may deliver the same payment.',
  },
  sell: {
    about: JOURNEYS.sell,
    objectives: [isAnswered('sell', 999), isQuick('sell')],
    first: 'status`: what does not answer, what is paused or used up, and which other alarms are active',
    means:
      'Vendors get no quotes, so their buyers cannot pay at all. Payments of quotes that exist continue.',
    inspect: AS_A_SERVICE,
    act: REMOVE,
    never: 'Lengthen the lifetime of quotes: prices are promised for so long.',
  },
  'sign-in': {
    about: JOURNEYS['sign-in'],
    objectives: [isAnswered('sign-in', 995)],
    first: 'status`: what does not answer, what is paused or used up, and which other alarms are active',
    means:
      'People cannot sign in. Keys continue to pay and to sell. A call without a valid credential belongs to no environment, so its label is `none`.',
    inspect: `${AS_A_SERVICE} Redis: without it the gateway refuses the calls that guess at secrets.`,
    act: REMOVE,
    never: 'Turn limits of sign-in off to let people through.',
  },
  agent: {
    about: JOURNEYS.agent,
    objectives: [isAnswered('agent', 995)],
    first: 'status`: what does not answer, what is paused or used up, and which other alarms are active',
    means: 'Owners cannot make, change or revoke the keys of their programs, or approve a payment.',
    inspect: AS_A_SERVICE,
    act: `${REMOVE} An owner who wants to stop a program now is helped by \`npm run ops -- accounts freeze\`.`,
    never: 'Approve a payment for its owner.',
  },
  fund: {
    about: JOURNEYS.fund,
    objectives: [isAnswered('fund', 995)],
    first: 'status`: what does not answer, what is paused or used up, and which other alarms are active',
    means: 'Owners cannot link a wallet, deposit or withdraw. What they have signed goes on by itself.',
    inspect: `${AS_A_SERVICE} ProviderFailing, and the provider of deposits.`,
    act: REMOVE,
    never: 'Send a withdrawal by hand: its signed transaction may still be included.',
  },
  read: {
    about: JOURNEYS.read,
    objectives: [isAnswered('read', 995), isQuick('read')],
    first: 'status`: what does not answer, what is paused or used up, and which other alarms are active',
    means: 'The console, statements and programs that poll see errors or wait. Nothing is lost.',
    inspect: `${AS_A_SERVICE} ReadReplicaUnused: without replicas the primary answers lists, too.`,
    act: REMOVE,
    never: 'Raise the limits of an account whose lists are slow.',
  },
  webhooks: {
    about: 'A customer’s server hears of an event.',
    objectives: [
      sent(
        `deliveries to endpoints that answer are answered within ${SENT_SECONDS} s of the event`,
        'quittance_webhook_first_answer_seconds',
      ),
    ],
    first: 'webhooks`: one endpoint with a large backlog, or all of them',
    means: 'Endpoints hear of events late. `GET /v1/events` is complete, and payments continue.',
    inspect:
      'WebhooksStuck and EventsWaiting; `quittance_webhook_attempts_total` by `outcome`; whether one account has most of the due deliveries.',
    act: 'Start more replicas of webhook if all endpoints wait. Due deliveries are sent by themselves.',
    never: 'Delete deliveries to shorten the queue.',
  },
  mails: {
    about: 'A person gets the mail of a sign-in link.',
    objectives: [
      sent(
        `mails of sign-in links are accepted by the mail server within ${SENT_SECONDS} s of their request`,
        'quittance_sign_in_mail_seconds',
      ),
    ],
    first: 'undelivered`: the second table: how many mails of each kind wait',
    means: 'Sign-in mails come late. Mails that are not accepted at all raise MailsStuck.',
    inspect:
      'identity’s log `did not send a mail` with the code of the error; the mail provider’s status and quota.',
    act: 'Repair or change `SMTP_URL`. Mails with a valid link are sent by themselves.',
    never: 'Send a link by hand: such a request may be an attack.',
  },
};

/** The journeys in the order of their section. */
export const JOURNEY_NAMES = Object.keys(OBJECTIVES) as JourneyName[];
/** Every objective with its journey. */
export const ALL_OBJECTIVES = JOURNEY_NAMES.flatMap((journey) =>
  OBJECTIVES[journey].objectives.map((objective) => ({ journey, objective })),
);
/** The part of the calls that may miss an objective. */
export const allowedOf = ({ of1000 }: Pick<Objective, 'of1000'>): number => (1000 - of1000) / 1000;
