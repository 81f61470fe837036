import type { z } from 'zod';
import { type EventName, type ServiceContract, subjects } from '../contract/service.ts';
import type { Bus } from './connect.ts';
import { decode } from './envelope.ts';

/**
 * Hears facts of another service as they happen, on every instance (the contract's `hears`). Core NATS: what happens
 * while this instance is not connected is missed, so nothing may rest on it alone.
 */
export const listen = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventName<S>]?: (fact: z.infer<S['events'][E]>) => void },
): void => {
  for (const [name, handler] of Object.entries(handlers)) {
    bus.nc.subscribe(subjects.event(source.name, name), {
      callback: (error, msg) => {
        try {
          if (error !== null) throw error;
          (handler as (fact: unknown) => void)(source.events[name]!.parse(decode(msg.data)));
        } catch (failure) {
          bus.logger.error({ err: failure, subject: subjects.event(source.name, name) }, 'fact not heard');
        }
      },
    });
  }
};
