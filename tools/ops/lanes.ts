import type { z } from 'zod';
import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import type { listReplicasOperation } from '../../shared/contract/operator.ts';
import { settlement } from '../../shared/contract/settlement.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

type Replicas = z.infer<typeof listReplicasOperation.output>;

const rowsOf = (service: string, replicas: Replicas): string[][] =>
  replicas.map(({ replica_id, load, lanes }) => [
    service,
    replica_id,
    `${Math.round(load * 100)} %`,
    lanes.length === 0 ? 'stands by' : lanes.join(' '),
  ]);

export const lanesCommands: readonly Command[] = [
  {
    name: 'lanes show',
    args: '',
    summary: 'Shows the replicas of settlement and chain-submitter, their load and their lanes',
    details:
      'As few replicas as the load needs own the 16 lanes. A lane without an owner is served by any replica, and taken within seconds.',
    show: async (operator) => {
      const [settling, submitting] = await Promise.all([
        operator.call(settlement, 'listReplicas', {}),
        operator.call(chainSubmitter, 'listReplicas', {}),
      ]);
      return {
        json: { settlement: settling, 'chain-submitter': submitting },
        text: tableText([
          ['service', 'replica', 'of a core', 'lanes'],
          ...rowsOf(settlement.name, settling),
          ...rowsOf(chainSubmitter.name, submitting),
        ]),
      };
    },
  },
];
