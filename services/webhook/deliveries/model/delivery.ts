import { stateMachine } from '../../../../shared/state-machine.ts';

type DeliveryStatus = 'pending' | 'delivered' | 'failed';
/** The result of an attempt, where `exhaust` is the last one, or the start of a new round. */
export type DeliveryEvent = 'deliver' | 'retry' | 'exhaust' | 'redeliver';

export const deliveries = stateMachine<DeliveryStatus, DeliveryEvent>({
  pending: { deliver: 'delivered', retry: 'pending', exhaust: 'failed', redeliver: 'pending' },
  delivered: { redeliver: 'pending' },
  failed: { redeliver: 'pending' },
});
