import { stateMachine } from '../../../../shared/state-machine.ts';

/** `on`: events are sent to the endpoint. Any other state is the reason why they are not. */
type EndpointState = 'on' | 'owner' | 'failing' | 'gone';
/** The owner enables or disables; deliveries `fail` for days, or one is answered 410 (`gone`). */
type EndpointEvent = 'enable' | 'disable' | 'fail' | 'gone';

export const endpoints = stateMachine<EndpointState, EndpointEvent>({
  on: { enable: 'on', disable: 'owner', fail: 'failing', gone: 'gone' },
  // When the owner disables it too, the first reason stays.
  owner: { enable: 'on', disable: 'owner' },
  failing: { enable: 'on', disable: 'failing' },
  gone: { enable: 'on', disable: 'gone' },
});
