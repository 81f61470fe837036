import { stateMachine } from '../../../../shared/state-machine.ts';

/** Whether an endpoint is sent to, or why not. */
export type EndpointState = 'on' | 'owner' | 'failing' | 'gone';
/** What its owner says, and what came of deliveries: nothing but failures for days, or 410. */
export type EndpointEvent = 'enable' | 'disable' | 'fail' | 'gone';

export const endpoints = stateMachine<EndpointState, EndpointEvent>({
  on: { enable: 'on', disable: 'owner', fail: 'failing', gone: 'gone' },
  // Disabled by its owner besides, the first reason stays.
  owner: { enable: 'on', disable: 'owner' },
  failing: { enable: 'on', disable: 'failing' },
  gone: { enable: 'on', disable: 'gone' },
});
