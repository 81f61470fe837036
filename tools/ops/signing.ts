import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import type { Command, CommandOutput, Plan } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Signing = z.infer<typeof chainSubmitter.internal.getSigning.output>;

const stateOf = (paused: boolean) => (paused ? 'paused' : 'on');
const solOf = (lamports: number | null) => (lamports === null ? 'unknown' : (lamports / 1e9).toFixed(4));

const outputOf = (json: unknown, { paused, open, fee_payers, authorities }: Signing): CommandOutput => ({
  json,
  text: [
    tableText([
      ['signing', 'open work'],
      [stateOf(paused), String(open)],
    ]),
    tableText([
      ['fee payer', 'address', 'SOL', 'in flight', 'prepared'],
      ...fee_payers.map(({ number, address, lamports, live, prepared }, at) => [
        number === null ? 'not configured' : `${number}${at === 0 ? ' (pays)' : ''}`,
        address,
        solOf(lamports),
        String(live),
        String(prepared),
      ]),
    ]),
    tableText([
      ['authority', 'address'],
      ...authorities.map(({ number, address }, at) => [
        `${number}${at === 0 ? ' (new onboardings)' : ''}`,
        address,
      ]),
    ]),
  ].join('\n\n'),
});

const planPause = async (operator: Operator, paused: boolean): Promise<Plan> => {
  const signing = await operator.call(chainSubmitter, 'getSigning', {});
  return {
    table:
      signing.paused === paused
        ? null
        : [
            ['what', 'now', 'then'],
            ['signing', stateOf(signing.paused), stateOf(paused)],
          ],
    notes: paused
      ? [
          'Takes effect with every replica’s next work: nothing is signed or co-signed. Signed transactions continue, because only the',
          `chain can end them. Open work (${signing.open}) waits; a payment fails without moving money 60 s after its quote expires.`,
        ]
      : [
          'Open work continues within seconds. After a restore, read the report of `npm run ops -- reconcile` first.',
        ],
    make: async (attribution) => {
      const answer = await operator.call(chainSubmitter, 'setSigningPaused', { paused, ...attribution });
      return outputOf(answer, answer.signing);
    },
  };
};

export const signingCommands: readonly Command[] = [
  {
    name: 'signing show',
    args: '',
    summary: 'Shows whether signing is paused, the open work, the fee payers and the authorities',
    details: 'A former fee payer can be removed when it has no in-flight and no prepared transactions.',
    show: async (operator) => {
      const signing = await operator.call(chainSubmitter, 'getSigning', {});
      return outputOf(signing, signing);
    },
  },
  {
    name: 'signing pause',
    args: '',
    summary: 'Pauses all signing in this environment, for accepted payments too',
    details: 'The alarm SigningPaused fires after ten minutes.',
    plan: (operator) => planPause(operator, true),
  },
  {
    name: 'signing resume',
    args: '',
    summary: 'Resumes signing; a restored environment waits for this command',
    details: '',
    plan: (operator) => planPause(operator, false),
  },
];
