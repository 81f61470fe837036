import { stateMachine } from '../../../shared/state-machine.ts';

/**
 * `closing`: the service gets no new quotes, and existing ones can still be paid and redeemed.
 * `closed`: the row stays for the history.
 */
type ServiceStatus = 'active' | 'closing' | 'closed';
type ServiceEvent = 'close' | 'reopen' | 'end';

export const services = stateMachine<ServiceStatus, ServiceEvent>({
  active: { close: 'closing' },
  closing: { close: 'closing', reopen: 'active', end: 'closed' },
  closed: {},
});
