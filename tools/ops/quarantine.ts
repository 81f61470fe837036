import { DECISIONS, type Decision } from '../../shared/contract/operator.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import type { Command, Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { type ServiceName, serviceContracts, serviceNames } from './service-contracts.ts';
import { tableText } from './table.ts';

const NOTES: Record<Decision, string> = {
  retry: 'The message is handled again now. Refused if the service cannot parse it.',
  dismiss:
    'Nothing is done with the message. Use it for work that is dispatched again anyway, and for messages without a known sender.',
  included:
    'Refused unless the payment is final on every provider of the chain and moved the amounts of the quote.',
  failed:
    'Refused unless it is proven that no transaction of the payment can be included any more (docs/design/settle.md, rule 11).',
};

const serviceOf = (argument: string | undefined): ServiceName => {
  const service = serviceNames.find((name) => name === argument);
  if (service === undefined)
    throw new Refusal(`${argument} is not a service; the services are ${serviceNames.join(', ')}`);
  return service;
};

const find = async (operator: Operator, service: ServiceName, argument: string | undefined) => {
  if (!/^[1-9][0-9]{0,14}$/.test(argument ?? ''))
    throw new Refusal(`${argument} is not the number of a message`);
  const id = { quarantine_id: Number(argument) };
  const message = await operator.call(serviceContracts[service], 'findQuarantined', id);
  if (message === null) throw new Refusal(`${service} has no quarantined message ${argument}`);
  return message;
};

const planDecision = async (
  operator: Operator,
  [serviceArgument, idArgument, decisionArgument]: readonly string[],
): Promise<Plan> => {
  const service = serviceOf(serviceArgument);
  const decision = DECISIONS.find((one) => one === decisionArgument);
  if (decision === undefined)
    throw new Refusal(`${decisionArgument} is not a decision; the decisions are ${DECISIONS.join(', ')}`);
  const { quarantine_id, subject, created_at, ...message } = await find(operator, service, idArgument);
  if (message.decision !== null) throw new Refusal(`the message is already decided: ${message.decision}`);
  return {
    table: [
      ['service', 'message', 'subject', 'since', 'decision'],
      [service, String(quarantine_id), subject, created_at, decision],
    ],
    notes: [NOTES[decision]],
    make: async (attribution) => {
      const input = { quarantine_id, decision, ...attribution };
      const json = await operator.call(serviceContracts[service], 'decideQuarantined', input);
      return { json, text: `Decided: ${json.decision}, at ${json.decided_at}.` };
    },
  };
};

export const quarantineCommands: readonly Command[] = [
  {
    name: 'quarantine list',
    args: '',
    summary: 'Lists quarantined messages: those that a service could not parse or that contradict its record',
    details: '--all includes decided messages.',
    show: async (operator, _args, { all, limit }) => {
      const lists = await Promise.all(
        serviceNames.map(async (service) => {
          const list = await operator.call(serviceContracts[service], 'listQuarantined', {
            decided: all,
            limit,
          });
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
      const head = ['service', 'message', 'since', 'subject', 'decision', 'reason'];
      return { json, text: json.length === 0 ? 'None.' : tableText([head, ...rows]) };
    },
  },
  {
    name: 'quarantine show',
    args: '<service> <message>',
    summary: 'Shows a quarantined message with its body and everything known about its subject',
    details:
      'For a payment: the record, every signed transaction, the answer of each provider, and what they prove.',
    show: async (operator, [service, id]) => {
      const json = await find(operator, serviceOf(service), id);
      return { json, text: JSON.stringify(json, null, 2) };
    },
  },
  {
    name: 'quarantine decide',
    args: '<service> <message> <decision>',
    summary: `Decides on a quarantined message: ${DECISIONS.join(', ')}`,
    details: DECISIONS.map((one) => `  ${one.padEnd(9)} ${NOTES[one]}`).join('\n'),
    plan: planDecision,
  },
];
