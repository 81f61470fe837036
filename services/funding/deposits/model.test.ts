import { expect, test } from '@jest/globals';
import { DepositStatus } from '../../../shared/contract/funding/deposits.ts';
import { type DepositEvent, deposits, matchTransfer } from './model.ts';

const STATES = DepositStatus.options;
const next = (status: DepositStatus, event: DepositEvent): DepositStatus =>
  deposits.next(status, event) ?? status;

/** State, event and the state after it. In every other pair the event changes nothing. */
const TRANSITIONS: readonly [DepositStatus, DepositEvent, DepositStatus][] = [
  ['created', 'opened', 'awaiting_payment'],
  ['created', 'waiting', 'awaiting_payment'],
  ['created', 'paid', 'processing'],
  ['created', 'sent', 'settling'],
  ['created', 'refused', 'failed'],
  ['created', 'cancelled', 'cancelled'],
  ['created', 'elapsed', 'expired'],
  ['awaiting_payment', 'paid', 'processing'],
  ['awaiting_payment', 'sent', 'settling'],
  ['awaiting_payment', 'refused', 'failed'],
  ['awaiting_payment', 'cancelled', 'cancelled'],
  ['awaiting_payment', 'elapsed', 'expired'],
  ['processing', 'sent', 'settling'],
  ['processing', 'refused', 'failed'],
  ['processing', 'cancelled', 'cancelled'],
  ['settling', 'seen', 'completed'],
  ['failed', 'sent', 'settling'],
  ['cancelled', 'sent', 'settling'],
  ['expired', 'sent', 'settling'],
];
const EVENTS: DepositEvent[] = [
  'opened',
  'waiting',
  'paid',
  'sent',
  'seen',
  'refused',
  'cancelled',
  'elapsed',
];

test.each(STATES.flatMap((status) => EVENTS.map((event) => [status, event] as const)))(
  'a deposit in the state %s changes by the event %s as the table says',
  (status, event) => {
    const expected = TRANSITIONS.find(([from, by]) => from === status && by === event)?.[2] ?? status;
    expect(next(status, event)).toBe(expected);
  },
);

test('the table has every state and every event', () => {
  expect(deposits.states).toEqual(STATES);
  expect(new Set(deposits.events)).toEqual(new Set(EVENTS));
  expect(STATES.filter(deposits.isTerminal)).toEqual(['completed']);
});

test('reports alone never complete a deposit in any order, and nothing changes a completed one', () => {
  const reports = EVENTS.filter((event) => event !== 'seen');
  const reached = new Set<DepositStatus>(['created']);
  for (let size = 0; size !== reached.size; ) {
    size = reached.size;
    for (const status of [...reached]) for (const event of reports) reached.add(next(status, event));
  }
  expect(reached).not.toContain('completed');
  for (const event of EVENTS) expect(next('completed', event)).toBe('completed');
});

const transfer = (instruction: string, amountMicro: bigint) => ({ instruction, amountMicro });

test.each([
  ['the promised amount', 5n, [transfer('1', 5n)], [], '1'],
  ['the promised amount among others', 5n, [transfer('0', 4n), transfer('1.2', 5n)], [], '1.2'],
  ['the second of two equal transfers', 5n, [transfer('0', 5n), transfer('1', 5n)], ['0'], '1'],
  ['no transfer to this wallet', 5n, [], [], 'no_transfer'],
  ['one micro-unit less', 5n, [transfer('0', 4n)], [], 'wrong_amount'],
  ['one micro-unit more', 5n, [transfer('0', 6n)], [], 'wrong_amount'],
  ['the transfer of another deposit', 5n, [transfer('0', 5n)], ['0'], 'already_counted'],
  [
    'the transfer of another deposit and a wrong amount',
    5n,
    [transfer('0', 5n), transfer('1', 1n)],
    ['0'],
    'wrong_amount',
  ],
])('the transfers of a transaction are matched: %s', (_name, promised, transfers, counted, expected) => {
  const match = matchTransfer(promised, transfers, new Set(counted));
  expect('transfer' in match ? match.transfer.instruction : match.problem.code).toBe(expected);
});
