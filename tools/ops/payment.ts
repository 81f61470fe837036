import {
  type Inspection,
  MAX_REFERENCES,
  type RecordEntry,
  type References,
} from '../../shared/contract/operator.ts';
import { AccountId, PaymentAttemptId } from '../../shared/contract/primitives.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { askEach, missingText } from './ask-services.ts';
import { type Command, inspectionInput } from './command.ts';
import { conclusionsOf } from './conclusion.ts';
import type { Operator } from './connect.ts';
import { type ServiceName, serviceContracts } from './service-contracts.ts';
import { foldText, tableText } from './table.ts';

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

const NOTHING = { related: { ids: [], attempts: [] }, entries: [] };

/** The records of all services. */
const askServices = async (
  operator: Operator,
  { ids, attempts }: References,
  inspection: Inspection | null,
) => {
  const references = {
    ids: ids.slice(0, MAX_REFERENCES),
    attempts: attempts.slice(0, MAX_REFERENCES),
    ...inspectionInput(inspection),
  };
  const { answers, unavailable } = await askEach((service) =>
    operator.call(serviceContracts[service], 'findRecords', references),
  );
  return { answers: answers.map(({ service, answer = NOTHING }) => ({ service, ...answer })), unavailable };
};

/** The names of everything that belongs to the named objects. */
const findRelated = async (
  operator: Operator,
  start: References,
  inspection: Inspection | null,
): Promise<References> => {
  const ids = new Set(start.ids);
  const attempts = new Map(start.attempts.map((attempt) => [attemptKey(attempt), attempt]));
  let fresh: References = start;
  for (let round = 0; round < MAX_ROUNDS && fresh.ids.length + fresh.attempts.length > 0; round += 1) {
    const { answers } = await askServices(operator, fresh, inspection);
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
const followTrail = async (
  operator: Operator,
  start: References,
  inspection: Inspection | null,
): Promise<Trail> => {
  const related = await findRelated(operator, start, inspection);
  const { answers, unavailable } = await askServices(operator, related, inspection);
  const entries = answers.flatMap(({ service, entries: own }) => own.map((one) => ({ service, ...one })));
  return {
    ...related,
    entries: entries.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)),
    unavailable,
  };
};

/** Details whose values are micro-units. */
const AMOUNTS = new Set([
  'amount',
  'used',
  'fee',
  'holds',
  'refund_reserved',
  'promised',
  'asked',
  'limit',
  'left',
  'balance',
  'allowance',
]);

const detailText = ([name, value]: [string, RecordEntry['details'][string]]): string => {
  const isAmount = AMOUNTS.has(name) && typeof value === 'string' && /^\d+$/.test(value);
  return `${name}=${isAmount ? displayUsdc(BigInt(value)) : String(value)}`;
};

/** The longest id of ours. A signature is cut here, and whole under the table. */
const ID_LENGTH = 36;

/** A line for each entry, and its details in lines below. */
const entriesText = (entries: readonly Entry[]): string => {
  const lines = tableText([
    ['at', 'service', 'object', 'what'],
    ...entries.map(({ at, service, object_id, what }) => [
      at,
      service,
      object_id.length > ID_LENGTH ? `${object_id.slice(0, ID_LENGTH - 1)}…` : object_id,
      what,
    ]),
  ]).split('\n');
  const detailed = entries.flatMap(({ details }, index) => {
    const text = Object.entries(details).map(detailText).join(' ');
    return [lines[index + 1]!, ...(text === '' ? [] : [foldText(text, '    ')])];
  });
  return [lines[0], ...detailed].join('\n');
};

const trailText = ({ ids, entries, unavailable }: Trail): string =>
  [
    ...conclusionsOf(entries).map((text) => foldText(text)),
    entriesText(entries),
    foldText(`Ids: ${ids.join(' ')}`),
    ...missingText(unavailable),
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
    summary: 'Shows everything recorded about a payment, a refund, a transfer or a link, oldest first',
    details: [
      'The id of the settlement, quote, refund, approval, webhook event, withdrawal or deposit, the signature of the',
      'transaction, or with --account <account_id> the payment_attempt_id. Of a payment link (pl_…) the newest payments',
      'are shown. All services are queried, and every provider of the chain. A request id is not recorded: use',
      '`request show`.',
    ].join('\n'),
    inspects: true,
    show: async (operator, [id], { account, traces, inspection }) => {
      const trail = await followTrail(operator, startOf(id, account), inspection);
      if (trail.entries.length === 0 && trail.unavailable.length === 0)
        throw new Refusal(
          `nothing in ${operator.environment} has the id ${id}; a payment_attempt_id needs --account <account_id>`,
        );
      return {
        json: { ...trail, conclusions: conclusionsOf(trail.entries) },
        text: [
          trailText(trail),
          ...(traces === null ? [] : [`Traces: ${traces}/?id=${encodeURIComponent(id ?? '')}`]),
        ].join('\n\n'),
        code: trail.unavailable.length === 0 ? 0 : 1,
      };
    },
  },
];
