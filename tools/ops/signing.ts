import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import type { Command, Planned, Said } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

type Signing = z.infer<typeof chainSubmitter.internal.getSigning.output>;

const stateOf = (paused: boolean) => (paused ? 'paused' : 'on');
const solOf = (lamports: number | null) => (lamports === null ? 'unknown' : (lamports / 1e9).toFixed(4));

const saidOf = (json: unknown, { paused, open, fee_payers, authorities }: Signing): Said => ({
  json,
  text: [
    tableText([
      ['signing', 'open work'],
      [stateOf(paused), String(open)],
    ]),
    tableText([
      ['fee payer', 'address', 'SOL', 'may still land', 'waits for its owner'],
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

const planPause = async (operator: Operator, paused: boolean): Promise<Planned> => {
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
          'At every replica’s next piece of work: nothing new is signed or co-signed. Signed bytes go on, only the chain ends',
          `those. Open work (${signing.open}) waits; a payment fails with nothing moved 60 s after its quote’s expiry.`,
        ]
      : ['Open work goes on within seconds. After a restore: only once `npm run reconcile` was looked at.'],
    make: async (signed) => {
      const answer = await operator.call(chainSubmitter, 'setSigningPaused', { paused, ...signed });
      return saidOf(answer, answer.signing);
    },
  };
};

export const signingCommands: readonly Command[] = [
  {
    name: 'signing show',
    words: '',
    summary: 'Whether anything is signed, what is under way, and the fee payers and authorities',
    details: 'A former fee payer can go once nothing that it pays for may still land or waits for its owner.',
    show: async (operator) => {
      const signing = await operator.call(chainSubmitter, 'getSigning', {});
      return saidOf(signing, signing);
    },
  },
  {
    name: 'signing pause',
    words: '',
    summary: 'Signs nothing more in this environment, not even what was accepted',
    details: 'Alarm SigningPaused after ten minutes.',
    plan: (operator) => planPause(operator, true),
  },
  {
    name: 'signing resume',
    words: '',
    summary: 'Signs again; a restored environment waits for this',
    details: '',
    plan: (operator) => planPause(operator, false),
  },
];
