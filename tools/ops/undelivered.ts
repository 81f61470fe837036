import { identity } from '../../shared/contract/identity.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import { displayUsdc } from '../../shared/lib/money/usdc.ts';
import { ageText } from './age.ts';
import { askEach, missingText } from './ask-services.ts';
import type { Command, Table } from './command.ts';
import { type ServiceName, serviceContracts } from './service-contracts.ts';
import { tableText } from './table.ts';
import { answerOrNull } from './within.ts';

const section = (title: string, table: Table): string =>
  `${title}\n${table.length === 1 ? 'None.' : tableText(table)}`;

export const undeliveredCommands: readonly Command[] = [
  {
    name: 'undelivered',
    args: '',
    summary:
      'Lists what has not reached its receiver: messages of services, mails, and payments that are not redeemed',
    details: [
      'Messages are committed and not published: the bus is unavailable, or its stream is full. Mails wait for the mail',
      'server. A payment is listed if it is older than five minutes: its vendor can redeem it until the time shown, or',
      'without an end. `webhooks` has the events that customers’ endpoints have not taken.',
    ].join('\n'),
    show: async (operator, _args, { limit }) => {
      const [messages, mails, payments] = await Promise.all([
        askEach((service) => operator.call(serviceContracts[service], 'listUnsent', {})),
        answerOrNull(operator.call(identity, 'listWaitingMails', {})),
        answerOrNull(operator.call(settlement, 'listUndelivered', { limit })),
      ]);
      const unsent = messages.answers.flatMap(({ service, answer = [] }) =>
        answer.map((each) => ({ service, ...each })),
      );
      const missing: ServiceName[] = [
        ...messages.unavailable,
        ...(mails === null ? (['identity'] as const) : []),
        ...(payments === null ? (['settlement'] as const) : []),
      ];
      const unavailable = [...new Set(missing)];
      return {
        json: { messages: unsent, mails: mails ?? [], payments: payments ?? [], unavailable },
        text: [
          section('Messages that are not published', [
            ['service', 'subject', 'messages', 'oldest'],
            ...unsent.map((one) => [one.service, one.subject, String(one.messages), ageText(one.oldest_at)]),
          ]),
          section('Mails that wait', [
            ['kind', 'mails', 'tries', 'again at'],
            ...(mails ?? []).map((one) => [
              one.kind,
              String(one.mails),
              String(one.attempts),
              one.next_attempt_at,
            ]),
          ]),
          section('Paid and not redeemed', [
            ['settlement', 'paid by', 'age', 'amount', 'vendor', 'until'],
            ...(payments ?? []).map((one) => [
              one.settlement_id,
              one.rail,
              ageText(one.created_at),
              displayUsdc(BigInt(one.amount)),
              one.vendor_account_id ?? '–',
              one.redeem_expires_at ?? 'no end',
            ]),
          ]),
          ...missingText(unavailable),
        ].join('\n\n'),
        code: unavailable.length === 0 ? 0 : 1,
      };
    },
  },
];
