import { type Clock, isoTime } from '../../../shared/lib/clock.ts';
import { newId } from '../../../shared/lib/id.ts';

/** The id of a change of an account, which distinguishes its event, and the time of the change. */
export const newChange = ({ clock }: { clock: Clock }) => ({
  change_id: newId('evt'),
  at: isoTime(clock()),
});
