import { setTimeout as sleep } from 'node:timers/promises';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import type { Command } from './command.ts';
import type { Operator } from './connect.ts';
import { serviceContracts, serviceNames } from './service-contracts.ts';
import { tableText } from './table.ts';

const POLL_EVERY_MS = 1000;
const NOT_DRAINED = 75; // EX_TEMPFAIL of sysexits.h

/** The open work of an environment. A drained environment has none, but may have authorizations. */
const leftIn = async (operator: Operator) => {
  const [{ under_way, authorized }, { open }, outboxes] = await Promise.all([
    operator.call(settlement, 'getIntake', {}),
    operator.call(chainSubmitter, 'getSigning', {}),
    Promise.all(serviceNames.map((service) => operator.call(serviceContracts[service], 'getBacklog', {}))),
  ]);
  return {
    payments: under_way,
    work: open,
    messages: outboxes.reduce((sum, { outbox }) => sum + outbox, 0),
    authorizations: authorized,
  };
};
type Left = Awaited<ReturnType<typeof leftIn>>;

const isEmpty = ({ payments, work, messages }: Left) => payments + work + messages === 0;
const textOf = ({ payments, work, messages, authorizations }: Left) =>
  tableText([
    ['open payments', 'open work of chain-submitter', 'unpublished messages', 'authorizations'],
    [payments, work, messages, authorizations].map(String),
  ]);

export const drainCommands: readonly Command[] = [
  {
    name: 'drain',
    args: '',
    summary: 'Pauses payments and waits until all accepted work is completed',
    details:
      'Payments stay paused until `payments resume`. Withdrawals, refunds, funds and approvals can still begin; run `signing pause`\nafterwards to stop them. An authorization stays open until it is due, and nothing waits for it. Exit code 75 if\nwork is left after --seconds; run the command again to wait longer.',
    plan: async (operator, _args, { seconds }) => {
      const [{ paused_at }, left] = await Promise.all([
        operator.call(settlement, 'getIntake', {}),
        leftIn(operator),
      ]);
      return {
        table: [
          ['what', 'now', 'then'],
          ['new payments', paused_at === null ? 'accepted' : `paused since ${paused_at}`, 'paused'],
          ['open payments', String(left.payments), '0'],
          ['open work of chain-submitter', String(left.work), '0'],
          ['unpublished messages', String(left.messages), '0'],
          ['authorizations', String(left.authorizations), 'unchanged'],
        ],
        notes: [`Waits for up to ${seconds} s. New payments stay paused until \`payments resume\`.`],
        make: async (attribution) => {
          await operator.call(settlement, 'setPaymentsPaused', { paused: true, ...attribution });
          // A replica applies the pause at most a second later. Payments that it accepted until
          // then are counted as open.
          await sleep(2000);
          const until = Date.now() + seconds * 1000;
          let left = await leftIn(operator);
          for (let printed = ''; !isEmpty(left) && Date.now() < until; left = await leftIn(operator)) {
            const line = `${left.payments} payments, ${left.work} pieces of work, ${left.messages} messages`;
            if (line !== printed) console.error(line);
            printed = line;
            await sleep(POLL_EVERY_MS);
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
