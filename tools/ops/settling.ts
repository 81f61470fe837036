import { settlement } from '../../shared/contract/settlement.ts';
import type { Command, Planned, Said } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Settling = { paused_at: string | null; under_way: number };

const stateOf = ({ paused_at }: Settling) => (paused_at === null ? 'taken' : `paused since ${paused_at}`);
const saidOf = (json: unknown, settling: Settling): Said => ({
  json,
  text: tableText([
    ['new payments', 'accepted and under way'],
    [stateOf(settling), String(settling.under_way)],
  ]),
});

const planPause = async (operator: Operator, paused: boolean): Promise<Planned> => {
  const settling = await operator.call(settlement, 'showSettling', {});
  return {
    table:
      (settling.paused_at !== null) === paused
        ? null
        : [
            ['what', 'now', 'then'],
            ['new payments', stateOf(settling), paused ? 'paused' : 'taken'],
          ],
    notes: paused
      ? [
          'Within 2 s on every replica: a new attempt is answered 503 with Retry-After and nothing is recorded of it. The',
          `${settling.under_way} accepted and under way go on, and repeats of known attempts are answered. To stop signing as well: signing pause.`,
        ]
      : ['Within 2 s on every replica.'],
    make: async (signed) => {
      const answer = await operator.call(settlement, 'setSettling', { paused, ...signed });
      return saidOf(answer, answer.settling);
    },
  };
};

export const settlingCommands: readonly Command[] = [
  {
    name: 'settling show',
    words: '',
    summary: 'Whether new payments are taken',
    details: '',
    show: async (operator) => {
      const settling = await operator.call(settlement, 'showSettling', {});
      return saidOf(settling, settling);
    },
  },
  {
    name: 'settling pause',
    words: '',
    summary: 'Takes no new payments in this environment; accepted ones go on',
    details: 'Alarm SettlingPaused after half an hour.',
    plan: (operator) => planPause(operator, true),
  },
  {
    name: 'settling resume',
    words: '',
    summary: 'Takes new payments again',
    details: '',
    plan: (operator) => planPause(operator, false),
  },
];
