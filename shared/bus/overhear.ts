import type { z } from 'zod';
import { type EventName, type ServiceContract, subjects } from '../contract/service.ts';
import type { Bus } from './connect.ts';
import { decode } from './envelope.ts';

/**
 * Hears facts of another service on every instance as they are told, through plain NATS and not through the stream:
 * nothing is kept for an instance that was away, so what it does on hearing must only ever speed up what it would
 * find out by itself.
 */
export const overhear = <S extends ServiceContract>(
  bus: Bus,
  source: S,
  handlers: { [E in EventName<S>]?: (fact: z.infer<S['events'][E]>) => void },
): void => {
  for (const [name, handler] of Object.entries(handlers)) {
    bus.nc.subscribe(subjects.event(source.name, name), {
      callback: (error, msg) => {
        if (error !== null) return bus.logger.error({ err: error }, 'subscription failed');
        try {
          (handler as (fact: unknown) => void)(source.events[name]!.parse(decode(msg.data)));
        } catch (reason) {
          bus.logger.warn({ err: reason, subject: msg.subject }, 'fact not understood');
        }
      },
    });
  }
};
