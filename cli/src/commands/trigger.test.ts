import { expect, test } from '@jest/globals';
import { EventType } from '../../../shared/contract/webhook/operations.ts';
import { MAKERS, WITHOUT } from './trigger.ts';

test('each event of the API is triggered, or listed with the reason why not', () => {
  for (const type of EventType.options) {
    const isListed = [type, type.replace(/\..*$/, '.*')].some((name) => Object.hasOwn(WITHOUT, name));
    expect([type, Object.hasOwn(MAKERS, type) || isListed]).toEqual([type, true]);
  }
  const isEvent = (name: string) => EventType.options.some((type) => type === name);
  const isGroup = (name: string) => EventType.options.some((type) => `${type.split('.')[0]}.*` === name);
  for (const name of [...Object.keys(MAKERS), ...Object.keys(WITHOUT)])
    expect([name, isEvent(name) || isGroup(name)]).toEqual([name, true]);
});
