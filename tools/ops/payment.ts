import { ServiceError } from '../../shared/contract/errors.ts';
import { MAX_REFERENCES, type RecordEntry, type References } from '../../shared/contract/operator.ts';
import { AccountId, PaymentAttemptId } from '../../shared/contract/primitives.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { displayUsdc } from '../../shared/lib/usdc.ts';
import type { Command } from './command.ts';
import { conclusionsOf } from './conclusion.ts';
import type { Operator } from './connect.ts';
import { type ServiceName, serviceContracts, serviceNames } from './service-contracts.ts';
import { tableText } from './table.ts';

type Entry = RecordEntry & { service: ServiceName };
type Trail = {
  ids: string[];
  attempts: References['attempts'];
  entries: Entry[];
  unavailable: ServiceName[];
};

/** Each round follows the ids that the earlier one has found. A payment needs four. */
const MAX_ROUNDS = 8;

const attemptKey = ({ account_id, payment_attempt_id }: References['attempts'][number]) =>
  `${account_id}/${payment_attempt_id}`;

/**
 * The records of all services. A service that does not answer is named, and the others are shown.
 */
const askServices = async (operator: Operator, { ids, attempts }: References) => {
  const references = { ids: ids.slice(0, MAX_REFERENCES), attempts: attempts.slice(0, MAX_REFERENCES) };
  const unavailable: ServiceName[] = [];
  const answers = await Promise.all(
    serviceNames.map(async (service) => {
      try {
        return { service, ...(await operator.call(serviceContracts[service], 'findRecords', references)) };
      } catch (error) {
        if (!(error instanceof ServiceError) || error.code !== 'service_unavailable') throw error;
        unavailable.push(service);
        return { service, related: { ids: [], attempts: [] }, entries: [] };
      }
    }),
  );
  return { answers, unavailable };
};

/** The names of everything that belongs to the named objects. */
const findRelated = async (operator: Operator, start: References): Promise<References> => {
  const ids = new Set(start.ids);
  const attempts = new Map(start.attempts.map((attempt) => [attemptKey(attempt), attempt]));
  let fresh: References = start;
  for (let round = 0; round < MAX_ROUNDS && fresh.ids.length + fresh.attempts.length > 0; round += 1) {
    const { answers } = await askServices(operator, fresh);
    const related = answers.map((answer) => answer.related);
    const newIds = new Set(related.flatMap((each) => each.ids).filter((id) => !ids.has(id)));
    const newAttempts = new Map(
      related
        .flatMap((each) => each.attempts)
        .filter((attempt) => !attempts.has(attemptKey(attempt)))
        .map((attempt) => [attemptKey(attempt), attempt]),
    );
    for (const id of newIds) ids.add(id);
    for (const [key, attempt] of newAttempts) attempts.set(key, attempt);
    fresh = { ids: [...newIds], attempts: [...newAttempts.values()] };
  }
  return { ids: [...ids], attempts: [...attempts.values()] };
};

/**
 * Everything that the services know about the named objects, oldest first. The records are read
 * after all ids are known, so that each is read once.
 */
const followTrail = async (operator: Operator, start: References): Promise<Trail> => {
  const related = await findRelated(operator, start);
  const { answers, unavailable } = await askServices(operator, related);
  const entries = answers.flatMap(({ service, entries: own }) => own.map((one) => ({ service, ...one })));
  return {
    ...related,
    entries: entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    unavailable,
  };
};

/** Details whose values are micro-units. */
const AMOUNTS = new Set(['amount', 'fee', 'holds', 'refund_reserved', 'promised', 'asked', 'limit', 'left']);

const detailText = ([name, value]: [string, RecordEntry['details'][string]]): string => {
  const isAmount = AMOUNTS.has(name) && typeof value === 'string' && /^\d+$/.test(value);
  return `${name}=${isAmount ? displayUsdc(BigInt(value)) : String(value)}`;
};

const trailText = ({ ids, entries, unavailable }: Trail): string =>
  [
    ...conclusionsOf(entries),
    tableText([
      ['at', 'service', 'object', 'what', 'details'],
      ...entries.map(({ at, service, object_id, what, details }) => [
        at,
        service,
        object_id.length > 44 ? `${object_id.slice(0, 43)}…` : object_id,
        what,
        Object.entries(details).map(detailText).join(' '),
      ]),
    ]),
    `Ids: ${ids.join(' ')}`,
    ...(unavailable.length === 0
      ? []
      : [`No answer from ${unavailable.join(', ')}: these parts are missing. Run the command again.`]),
  ].join('\n\n');

/** The names of a start: the id itself, or an attempt of the account. */
const startOf = (id: string | undefined, account: string | null): References => {
  if (id === undefined || id.length > 128) throw new Refusal('the id must have at most 128 characters');
  if (account === null) return { ids: [id], attempts: [] };
  const account_id = AccountId.safeParse(account);
  if (!account_id.success) throw new Refusal(`--account: ${account} is not an account id (acct_…)`);
  const attempt = PaymentAttemptId.safeParse(id);
  if (!attempt.success) throw new Refusal(`${id} is not a payment_attempt_id: omit --account for other ids`);
  return { ids: [], attempts: [{ account_id: account_id.data, payment_attempt_id: attempt.data }] };
};

export const paymentCommands: readonly Command[] = [
  {
    name: 'payment show',
    args: '<id>',
    summary: 'Shows everything recorded about a payment, a refund or a transfer, in the order of time',
    details: [
      'The id of the settlement, quote, refund, approval, webhook event, withdrawal or deposit, the signature of the',
      'transaction, or with --account <account_id> the payment_attempt_id. All services are queried, and every provider',
      'of the chain. A request id is not recorded: use `request show`.',
    ].join('\n'),
    show: async (operator, [id], { account }) => {
      const trail = await followTrail(operator, startOf(id, account));
      if (trail.entries.length === 0 && trail.unavailable.length === 0)
        throw new Refusal(
          `nothing in ${operator.environment} has the id ${id}; a payment_attempt_id needs --account <account_id>`,
        );
      return {
        json: { ...trail, conclusions: conclusionsOf(trail.entries) },
        text: trailText(trail),
        code: trail.unavailable.length === 0 ? 0 : 1,
      };
    },
  },
];
