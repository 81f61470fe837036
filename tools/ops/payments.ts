import { settlement } from '../../shared/contract/settlement.ts';
import type { Command, CommandOutput, Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Intake = { paused_at: string | null; under_way: number; authorized: number };

const stateOf = ({ paused_at }: Intake) => (paused_at === null ? 'accepted' : `paused since ${paused_at}`);
const outputOf = (json: unknown, intake: Intake): CommandOutput => ({
  json,
  text: tableText([
    ['new payments', 'open', 'authorized'],
    [stateOf(intake), String(intake.under_way), String(intake.authorized)],
  ]),
});

const planPause = async (operator: Operator, paused: boolean): Promise<Plan> => {
  const intake = await operator.call(settlement, 'getIntake', {});
  return {
    table:
      (intake.paused_at !== null) === paused
        ? null
        : [
            ['what', 'now', 'then'],
            ['new payments', stateOf(intake), paused ? 'paused' : 'accepted'],
          ],
    notes: paused
      ? [
          'Takes effect within 2 s on every replica: a new attempt gets 503 with Retry-After, and nothing is recorded. The',
          `${intake.under_way} open payments continue, and repeats of known attempts are answered. To stop signing too: signing pause.`,
        ]
      : ['Takes effect within 2 s on every replica.'],
    make: async (attribution) => {
      const answer = await operator.call(settlement, 'setPaymentsPaused', { paused, ...attribution });
      return outputOf(answer, answer.intake);
    },
  };
};

export const paymentsCommands: readonly Command[] = [
  {
    name: 'payments status',
    args: '',
    summary: 'Shows whether payments are paused',
    details: '',
    show: async (operator) => {
      const intake = await operator.call(settlement, 'getIntake', {});
      return outputOf(intake, intake);
    },
  },
  {
    name: 'payments pause',
    args: '',
    summary: 'Pauses payments in this environment; accepted payments continue',
    details: 'The alarm PaymentsPaused fires after half an hour.',
    plan: (operator) => planPause(operator, true),
  },
  {
    name: 'payments resume',
    args: '',
    summary: 'Resumes payments',
    details: '',
    plan: (operator) => planPause(operator, false),
  },
];
