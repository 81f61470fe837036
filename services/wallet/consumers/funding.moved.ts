import type { Moved } from '../../../shared/contract/funding.ts';
import type { Deps } from '../deps.ts';
import { movementOfFunds } from '../movements.ts';
import { putMovements } from '../store/transactions.ts';

export const moved =
  ({ pool }: Pick<Deps, 'pool'>) =>
  async (fact: Moved): Promise<void> => {
    await putMovements(pool, [movementOfFunds(fact)]);
  };
