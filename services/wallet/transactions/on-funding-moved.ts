import type { Moved } from '../../../shared/contract/funding.ts';
import type { Movement } from './model/transaction.ts';
import { movementOfFunds } from './movements.ts';

export const moved = (event: Moved): Movement[] => [movementOfFunds(event)];
