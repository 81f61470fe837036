import { DECISIONS, type Decision } from '../../shared/contract/operator.ts';
import type { Command, Planned } from './command.ts';
import type { Operator } from './connect.ts';
import { everywhere, type ServiceName, serviceNames } from './everywhere.ts';
import { Refusal } from './refusal.ts';
import { tableText } from './table.ts';

const NOTES: Record<Decision, string> = {
  retry: 'It is handled once more now, as if it came again. Refused while the service cannot read it.',
  dismiss: 'Nothing is done with it. Right for what the record drives again, and for what is nobody’s.',
  included:
    'Refused unless the payment is final on every provider of the chain and moved what the quote says.',
  failed:
    'Refused unless it is proven that no transaction of the payment can be included any more (docs/design/settle.md, rule 11).',
};

const serviceOf = (word: string | undefined): ServiceName => {
  const service = serviceNames.find((name) => name === word);
  if (service === undefined) throw new Refusal(`${word} is no service: ${serviceNames.join(', ')}`);
  return service;
};

const find = async (operator: Operator, service: ServiceName, word: string | undefined) => {
  if (!/^[1-9][0-9]{0,14}$/.test(word ?? '')) throw new Refusal(`${word} is no number of a message`);
  const id = { quarantine_id: Number(word) };
  const message = await operator.call(everywhere[service], 'findQuarantined', id);
  if (message === null) throw new Refusal(`${service} has set no message ${word} aside`);
  return message;
};

const planDecision = async (
  operator: Operator,
  [serviceWord, idWord, decisionWord]: readonly string[],
): Promise<Planned> => {
  const service = serviceOf(serviceWord);
  const decision = DECISIONS.find((one) => one === decisionWord);
  if (decision === undefined) throw new Refusal(`${decisionWord} is no decision: ${DECISIONS.join(', ')}`);
  const { quarantine_id, subject, created_at, ...message } = await find(operator, service, idWord);
  if (message.decision !== null) throw new Refusal(`it is decided already: ${message.decision}`);
  return {
    table: [
      ['service', 'message', 'subject', 'since', 'decision'],
      [service, String(quarantine_id), subject, created_at, decision],
    ],
    notes: [NOTES[decision]],
    make: async (signed) => {
      const input = { quarantine_id, decision, ...signed };
      const json = await operator.call(everywhere[service], 'decideQuarantined', input);
      return { json, text: `Decided: ${json.decision}, at ${json.decided_at}.` };
    },
  };
};

export const quarantineCommands: readonly Command[] = [
  {
    name: 'quarantine list',
    words: '',
    summary: 'Messages that services could not read or believe, and set aside',
    details: '--all: those decided too.',
    show: async (operator, _words, { all, limit }) => {
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const list = await operator.call(everywhere[service], 'listQuarantined', { decided: all, limit });
          return list.map((message) => ({ service, ...message }));
        }),
      );
      const json = lists.flat();
      const rows = json.map((one) => [
        one.service,
        String(one.quarantine_id),
        one.created_at,
        one.subject,
        one.decision ?? '–',
        one.reason.replaceAll(/\s+/g, ' ').slice(0, 80),
      ]);
      const head = ['service', 'message', 'since', 'subject', 'decision', 'why'];
      return { json, text: json.length === 0 ? 'None.' : tableText([head, ...rows]) };
    },
  },
  {
    name: 'quarantine show',
    words: '<service> <message>',
    summary: 'One of them with its body, and all that is known of what it is about',
    details:
      'Of a payment: the record, every signed transaction, what each provider of the chain says, and what it proves.',
    show: async (operator, [service, id]) => {
      const json = await find(operator, serviceOf(service), id);
      return { json, text: JSON.stringify(json, null, 2) };
    },
  },
  {
    name: 'quarantine decide',
    words: '<service> <message> <decision>',
    summary: `Decides one: ${DECISIONS.join(', ')}`,
    details: DECISIONS.map((one) => `  ${one.padEnd(9)} ${NOTES[one]}`).join('\n'),
    plan: planDecision,
  },
];
