import { stateMachine } from '../../../shared/state-machine.ts';

/**
 * `closing`: no new quotes; what was quoted runs its course. `closed`: there for its history alone.
 */
export type ServiceStatus = 'active' | 'closing' | 'closed';
export type ServiceEvent = 'close' | 'reopen' | 'end';

export const services = stateMachine<ServiceStatus, ServiceEvent>({
  active: { close: 'closing' },
  closing: { close: 'closing', reopen: 'active', end: 'closed' },
  closed: {},
});
