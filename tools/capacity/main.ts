// `npm run prove -- capacity`: what bounds an installation at a load, and what the load takes.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import {
  flag,
  positive,
  readCommandLine,
  refuse,
  text,
  whole,
} from '../../deploy/local/processes/command-line.ts';
import { tableText } from '../ops/table.ts';
import { DEFAULT_LOAD, type Load, refusalOf } from './load.ts';
import { numberText } from './needs.ts';
import { jsonOf, reachedText, remedy, reportOf } from './report.ts';
import { readSite, type Site, schemasOf, WrongSetting } from './site.ts';

const rate = (value: string): number => {
  const number = Number(value);
  if (value.trim() === '' || !Number.isFinite(number) || number < 0) throw new Error('a number of 0 or more');
  return number;
};
const rateOption = (about: string, otherwise: number) => ({ ...positive('N', about, otherwise), read: rate });

const { values } = readCommandLine({
  typed: 'npm run prove -- capacity',
  about: `Prints which limits an installation reaches first, what moves each of them, and what the load takes. It reads the
settings, the manifests in k8s/ and the figures in bench/figures.json.`,
  options: {
    settles: rateOption('payments of quotes a second', DEFAULT_LOAD.settles),
    uses: rateOption('calls of tabs a second', DEFAULT_LOAD.uses),
    x402: rateOption('payments of x402 and MPP clients a second', DEFAULT_LOAD.x402),
    price: rateOption('USDC of a payment', DEFAULT_LOAD.price),
    'use-price': rateOption('USDC of a use', DEFAULT_LOAD.usePrice),
    'uses-per-report': positive(
      'N',
      'uses that a tab reports at once, one report a second',
      DEFAULT_LOAD.usesPerReport,
    ),
    'uses-per-capture': positive('N', 'uses that one transaction pays', DEFAULT_LOAD.usesPerCapture),
    vendors: whole('N', 'accounts that are paid', DEFAULT_LOAD.vendors),
    payers: whole('N', 'accounts that pay', DEFAULT_LOAD.payers),
    'vendor-limits': positive('N', 'factor of `ops limits set` for the vendors', DEFAULT_LOAD.vendorFactor),
    'payer-limits': positive('N', 'factor of `ops limits set` for the payers', DEFAULT_LOAD.payerFactor),
    'new-payers': rateOption('new payers a day', DEFAULT_LOAD.newPayersPerDay),
    'new-vendors': rateOption('new vendors a day', DEFAULT_LOAD.newVendorsPerDay),
    days: positive('N', 'how long the load goes on', DEFAULT_LOAD.days),
    providers: whole('N', 'RPC providers', DEFAULT_LOAD.providers),
    rpc: positive('N', 'calls a second that all RPC plans allow'),
    settings: text(
      'FILE',
      'settings over the defaults, as k8s/overlays/*/settings.env; variables of the environment go first',
    ),
    limits: whole('N', 'how many limits', 5),
    json: flag('JSON'),
  },
});

/** The settings of the file and of the environment, by the names that the services have. */
const settingsOf = async (file: string | undefined): Promise<Record<string, string>> => {
  const known = await schemasOf();
  const ofFile = file === undefined ? {} : (parseEnv(readFile(file)) as Record<string, string>);
  const unknown = Object.keys(ofFile).filter((name) => !known.has(name) && !OF_JOBS.has(name));
  if (unknown.length > 0) refuse(`${file}: no service has a setting ${unknown.join(', ')}`);
  const given = { ...ofFile, ...(process.env as Record<string, string>) };
  return Object.fromEntries(Object.entries(given).filter(([name]) => known.has(name)));
};
const OF_JOBS = new Set(['NATS_REPLICAS']);

const readFile = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    return refuse(`--settings: ${(error as Error).message}`);
  }
};

const siteOf = async (file: string | undefined): Promise<Site> => {
  try {
    return await readSite(await settingsOf(file));
  } catch (error) {
    if (error instanceof WrongSetting) return refuse(error.message);
    throw error;
  }
};

const load: Load = {
  settles: values.settles,
  uses: values.uses,
  x402: values.x402,
  price: values.price,
  usePrice: values['use-price'],
  usesPerReport: values['uses-per-report'],
  usesPerCapture: values['uses-per-capture'],
  vendors: values.vendors,
  payers: values.payers,
  newPayersPerDay: values['new-payers'],
  newVendorsPerDay: values['new-vendors'],
  days: values.days,
  rpcPlan: values.rpc ?? null,
  providers: values.providers,
  vendorFactor: values['vendor-limits'],
  payerFactor: values['payer-limits'],
};
const refused = refusalOf(load);
if (refused !== null) refuse(refused);

const report = reportOf({ site: await siteOf(values.settings), load }, values.limits);
if (values.json) console.log(JSON.stringify(jsonOf(report), null, 2));
else {
  console.log(
    tableText([
      ['limit', 'reached at', 'used', 'what moves it', ''],
      ...report.limits.map((ranked) => [
        ranked.limit.what,
        reachedText(ranked),
        `${numberText(100 * ranked.part)} %`,
        remedy(ranked),
        ranked.limit.source,
      ]),
    ]),
  );
  console.log(
    `\n${tableText([['what the load takes', ''], ...report.needs.map(({ what, value, source }) => [what, `${value} [${source}]`])])}`,
  );
  console.log('\nM: measured, C: computed from measured figures, R: read in a specification, E: estimated.');
}
