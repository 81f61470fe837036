import { expect, test } from '@jest/globals';
import { modelled, numericSettings, OUTSIDE } from './settings.ts';
import { readSite, schemasOf, WrongSetting } from './site.ts';

test('each number among the settings is in the model, or outside of it with a reason', async () => {
  const inside = modelled();
  const numbers = await numericSettings();
  expect(numbers.length).toBeGreaterThan(30);
  expect(numbers.filter((name) => !inside.has(name) && OUTSIDE[name] === undefined)).toEqual([]);
  expect(numbers.filter((name) => inside.has(name) && OUTSIDE[name] !== undefined)).toEqual([]);
});

test('the model and the list name settings that exist', async () => {
  const names = await schemasOf();
  expect([...modelled(), ...Object.keys(OUTSIDE)].filter((name) => !names.has(name))).toEqual([]);
  const numbers = new Set(await numericSettings());
  expect(Object.keys(OUTSIDE).filter((name) => !numbers.has(name))).toEqual([]);
});

test('settings are read by the schemas of the services, and a wrong one is named', async () => {
  const { settings, priorityLamports, requests } = await readSite({
    SETTLE_FEES_LAMPORTS_PER_DAY: '200000000000',
    COMPUTE_BUDGET: 'auto',
  });
  expect([settings.SETTLE_FEES_LAMPORTS_PER_DAY, priorityLamports]).toEqual([200_000_000_000, 20_000]);
  expect(requests['quote.create']).toBe(0.5);
  const wrong = readSite({ ENVIRONMENT_HOURLY_CAP_MICRO: 'a lot' });
  await expect(wrong).rejects.toThrow(WrongSetting);
  await expect(wrong).rejects.toThrow('ENVIRONMENT_HOURLY_CAP_MICRO: ');
});
