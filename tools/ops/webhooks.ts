import { webhook } from '../../shared/contract/webhook.ts';
import { ageText } from './age.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

const HEAD = ['endpoint', 'account', 'fails for', 'disabled', 'due', 'oldest due', 'host'];

export const webhooksCommands: readonly Command[] = [
  {
    name: 'webhooks',
    args: '',
    summary: 'Lists the endpoints of customers that fail, and those with most deliveries that are due',
    details: [
      'An endpoint fails while its last attempt was not delivered. It is disabled after five days (`failing`), or when it',
      'answers 410 (`gone`). Deliveries to the others are due when they are late: `fails for` is empty then.',
    ].join('\n'),
    show: async (operator, _args, { limit }) => {
      const json = await operator.call(webhook, 'listLateEndpoints', { limit });
      const rows = json.map((one) => [
        one.endpoint_id,
        one.account_id,
        ageText(one.failing_since),
        one.disabled_reason ?? 'no',
        String(one.due),
        ageText(one.oldest_due_at),
        one.host,
      ]);
      return {
        json,
        text: json.length === 0 ? 'No endpoint fails, and nothing is due.' : tableText([HEAD, ...rows]),
      };
    },
  },
];
