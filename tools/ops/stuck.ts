import type { Waiting } from '../../shared/contract/operator.ts';
import { ageText } from './age.ts';
import { askEach, missingText } from './ask-services.ts';
import type { Command } from './command.ts';
import { type ServiceName, serviceContracts } from './service-contracts.ts';
import { tableText } from './table.ts';

/** Work that is younger is under way, and not stuck. */
const STUCK_AFTER_SECONDS = 60;

const HEAD = ['for', 'service', 'what', 'id', 'state', 'again in', 'waits for'];

const againIn = (at: string | null): string => {
  if (at === null) return '–';
  return Date.parse(at) <= Date.now() ? 'now' : ageText(new Date().toISOString(), Date.parse(at));
};

const rowOf = ({ service, ...one }: Waiting & { service: ServiceName }): string[] => [
  ageText(one.since),
  service,
  one.kind,
  one.object_id,
  one.state,
  againIn(one.next_at),
  one.waits_for,
];

export const stuckCommands: readonly Command[] = [
  {
    name: 'stuck',
    args: '',
    summary: 'Lists what is open for more than a minute, for what it waits, and when it is tried again',
    details: [
      'Payments and authorizations that are due (settlement), work for the chain (chain-submitter), refunds, withdrawals,',
      'test funds, and deposits with a problem (funding). The oldest are first. --all also lists what is younger.',
      '`payment show <id>` shows one of them with all of its records. --limit is the number of each service.',
    ].join('\n'),
    show: async (operator, _args, { all, limit }) => {
      const { answers, unavailable } = await askEach((service) =>
        operator.call(serviceContracts[service], 'listWaiting', { limit }),
      );
      const oldest = Date.now() - STUCK_AFTER_SECONDS * 1000;
      const waiting = answers
        .flatMap(({ service, answer = [] }) => answer.map((each) => ({ service, ...each })))
        .filter(({ since }) => all || Date.parse(since) <= oldest)
        .toSorted((a, b) => (a.since < b.since ? -1 : 1));
      return {
        json: { waiting, unavailable },
        text: [
          waiting.length === 0
            ? all
              ? 'Nothing is open.'
              : 'Nothing is open for more than a minute.'
            : tableText([HEAD, ...waiting.map(rowOf)]),
          ...missingText(unavailable),
        ].join('\n\n'),
        code: unavailable.length === 0 ? 0 : 1,
      };
    },
  },
];
