import type { ProvidersReport } from '../../shared/bus/providers.ts';
import { ageText } from './age.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

const HEAD = [
  'replica',
  'provider',
  'answered',
  'refused',
  'unavailable',
  'last answer',
  'behind',
  'last failure',
];

const rowsOf = ({ replica_id, providers }: ProvidersReport): string[][] => {
  const newest = Math.max(...providers.map(({ slot }) => slot ?? 0));
  return providers.map((one) => [
    replica_id,
    String(one.number),
    String(one.answered),
    String(one.refused),
    String(one.unavailable),
    one.last_answer_at === null ? 'never' : `${ageText(one.last_answer_at)} ago`,
    one.slot === undefined ? 'unknown' : `${newest - one.slot} slots`,
    one.last_failure === null ? '–' : `${ageText(one.last_failure_at)} ago: ${one.last_failure}`,
  ]);
};

export const providersCommands: readonly Command[] = [
  {
    name: 'providers',
    args: '',
    summary: 'Shows what each replica of chain-submitter gets from each provider of the chain',
    details: [
      'The provider is its place in SOLANA_RPC_URLS, because a URL may contain a key. The calls are those of the last ten',
      'minutes: answered, refused by the provider, and without a usable answer. `behind` compares the newest slot that each',
      'has reported: more than 150 slots are a minute. The exit code is 1 if no replica answers.',
    ].join('\n'),
    show: async (operator) => {
      const reports = await operator.providers();
      if (reports.length === 0) return { json: reports, text: 'No answer from chain-submitter.', code: 1 };
      return { json: reports, text: tableText([HEAD, ...reports.flatMap(rowsOf)]) };
    },
  },
];
