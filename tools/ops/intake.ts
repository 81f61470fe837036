import { settlement } from '../../shared/contract/settlement.ts';
import type { Command, Planned, Said } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Intake = { paused_at: string | null; under_way: number };

const stateOf = ({ paused_at }: Intake) => (paused_at === null ? 'taken' : `paused since ${paused_at}`);
const saidOf = (json: unknown, intake: Intake): Said => ({
  json,
  text: tableText([
    ['new payments', 'accepted and under way'],
    [stateOf(intake), String(intake.under_way)],
  ]),
});

const planPause = async (operator: Operator, paused: boolean): Promise<Planned> => {
  const intake = await operator.call(settlement, 'getIntake', {});
  return {
    table:
      (intake.paused_at !== null) === paused
        ? null
        : [
            ['what', 'now', 'then'],
            ['new payments', stateOf(intake), paused ? 'paused' : 'taken'],
          ],
    notes: paused
      ? [
          'Within 2 s on every replica: a new attempt is answered 503 with Retry-After and nothing is recorded of it. The',
          `${intake.under_way} accepted and under way go on, and repeats of known attempts are answered. To stop signing as well: signing pause.`,
        ]
      : ['Within 2 s on every replica.'],
    make: async (signed) => {
      const answer = await operator.call(settlement, 'setPaymentsPaused', { paused, ...signed });
      return saidOf(answer, answer.intake);
    },
  };
};

export const intakeCommands: readonly Command[] = [
  {
    name: 'intake show',
    words: '',
    summary: 'Whether payments are paused',
    details: '',
    show: async (operator) => {
      const intake = await operator.call(settlement, 'getIntake', {});
      return saidOf(intake, intake);
    },
  },
  {
    name: 'intake pause',
    words: '',
    summary: 'Pauses payments in this environment; accepted ones go on',
    details: 'Alarm PaymentsPaused after half an hour.',
    plan: (operator) => planPause(operator, true),
  },
  {
    name: 'intake resume',
    words: '',
    summary: 'Resumes payments',
    details: '',
    plan: (operator) => planPause(operator, false),
  },
];
