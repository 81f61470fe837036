import { stateMachine } from '../../../../shared/state-machine.ts';

export type DeliveryStatus = 'pending' | 'delivered' | 'failed';
/** What came of a try, of which `exhaust` was the last; or a new round of tries was asked for. */
export type DeliveryEvent = 'deliver' | 'retry' | 'exhaust' | 'redeliver';

export const deliveries = stateMachine<DeliveryStatus, DeliveryEvent>({
  pending: { deliver: 'delivered', retry: 'pending', exhaust: 'failed', redeliver: 'pending' },
  delivered: { redeliver: 'pending' },
  failed: { redeliver: 'pending' },
});
