import { sql } from '../../../../shared/db/pool.ts';
import { stateColumn } from '../../../../shared/db/state-column.ts';
import { chainStatuses, type Event, statuses } from '../model/status.ts';

/** The two columns that hold a settlement's state. */
export const state = stateColumn(statuses);
export const chainState = stateColumn(chainStatuses, sql.fragment`chain_status`);

/** The guard of an event: it belongs to both states. */
export const allows = (event: Event) => sql.fragment`${state.allows(event)} and ${chainState.allows(event)}`;
