import { setTimeout as sleep } from 'node:timers/promises';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import type { Command } from './command.ts';
import type { Operator } from './connect.ts';
import { everywhere, serviceNames } from './everywhere.ts';
import { tableText } from './table.ts';

const LOOK_EVERY_MS = 1000;
const NOT_DRAINED = 75; // EX_TEMPFAIL of sysexits.h

/** What an empty environment has none of. */
const leftIn = async (operator: Operator) => {
  const [{ under_way }, { open }, outboxes] = await Promise.all([
    operator.call(settlement, 'getIntake', {}),
    operator.call(chainSubmitter, 'getSigning', {}),
    Promise.all(serviceNames.map((service) => operator.call(everywhere[service], 'getBacklog', {}))),
  ]);
  return { payments: under_way, work: open, messages: outboxes.reduce((sum, { outbox }) => sum + outbox, 0) };
};
type Left = Awaited<ReturnType<typeof leftIn>>;

const isEmpty = (left: Left) => Object.values(left).every((count) => count === 0);
const textOf = ({ payments, work, messages }: Left) =>
  tableText([
    ['payments under way', 'open work of chain-submitter', 'unpublished messages'],
    [payments, work, messages].map(String),
  ]);

export const drainCommands: readonly Command[] = [
  {
    name: 'drain',
    words: '',
    summary: 'Takes no new payments and waits until everything accepted has come to its end',
    details:
      'Payments stay paused: `intake resume` ends it. Withdrawals, refunds, funds and approvals still begin; `signing pause`\nafter it stops those too. Exit code 75 when something is left after --seconds; run it again to go on waiting.',
    plan: async (operator, _words, { seconds }) => {
      const [{ paused_at }, left] = await Promise.all([
        operator.call(settlement, 'getIntake', {}),
        leftIn(operator),
      ]);
      return {
        table: [
          ['what', 'now', 'then'],
          ['new payments', paused_at === null ? 'taken' : `paused since ${paused_at}`, 'paused'],
          ['payments under way', String(left.payments), '0'],
          ['open work of chain-submitter', String(left.work), '0'],
          ['unpublished messages', String(left.messages), '0'],
        ],
        notes: [`Waits for up to ${seconds} s. New payments stay paused until \`intake resume\`.`],
        make: async (signed) => {
          await operator.call(settlement, 'setPaymentsPaused', { paused: true, ...signed });
          // Replicas know of the pause for a second at most; whatever they took until then is under way.
          await sleep(2000);
          const until = Date.now() + seconds * 1000;
          let left = await leftIn(operator);
          for (let told = ''; !isEmpty(left) && Date.now() < until; left = await leftIn(operator)) {
            const line = `${left.payments} payments, ${left.work} pieces of work, ${left.messages} messages`;
            if (line !== told) console.error(line);
            told = line;
            await sleep(LOOK_EVERY_MS);
          }
          const drained = isEmpty(left);
          return {
            json: { drained, ...left },
            text: `${textOf(left)}\n\n${drained ? 'Drained.' : 'Not drained.'}`,
            code: drained ? 0 : NOT_DRAINED,
          };
        },
      };
    },
  },
];
