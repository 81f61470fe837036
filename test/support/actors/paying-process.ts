import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { type PaymentRecord, type PaymentStore, payingFetch } from '../../../sdk/src/pay/main.ts';

/**
 * An agent that makes one call and may be killed during it. It gets its settings as an argument and
 * prints the answer. Its payments are in a file.
 */
const { baseUrl, delegateKey, url, file } = JSON.parse(process.argv[2]!) as Record<string, string>;

type Held = Record<string, Record<string, PaymentRecord>>;
const read = (): Held => {
  try {
    return JSON.parse(readFileSync(file!, 'utf8')) as Held;
  } catch {
    return {};
  }
};
const write = (held: Held) => {
  writeFileSync(`${file}.new`, JSON.stringify(held));
  renameSync(`${file}.new`, file!);
};
const store: PaymentStore = {
  load: (name) => Object.values(read()[name] ?? {}),
  save: (name, record) => {
    const held = read();
    write({ ...held, [name]: { ...held[name], [record.id]: record } });
  },
  remove: (name, id) => {
    const held = read();
    delete held[name]?.[id];
    write(held);
  },
};

const pay = payingFetch(fetch, {
  baseUrl: baseUrl!,
  delegateKey: delegateKey!,
  maxAmount: 5_000_000n,
  store,
});
const answer = await pay(url!, { method: 'POST', body: 'Berlin' });
console.log(JSON.stringify({ status: answer.status, body: await answer.json() }));
