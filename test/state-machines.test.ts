import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { preparations } from '../services/chain-submitter/ledger/model/preparation.ts';
import { intents } from '../services/chain-submitter/ledger/model/state.ts';
import { transactions } from '../services/chain-submitter/ledger/model/transaction.ts';
import { deposits } from '../services/funding/deposits/model.ts';
import { RESERVES_NOTHING, refunds } from '../services/funding/transfers/model/refund.ts';
import { withdrawals } from '../services/funding/transfers/model/withdrawal.ts';
import { services } from '../services/identity/services/model.ts';
import { settlements as quoteSettlements } from '../services/quote/quotes/model/status.ts';
import { STORED_STATES } from '../services/quote/quotes/store.ts';
import { chainStatuses, statuses } from '../services/settlement/record/model/status.ts';
import { transactions as projected } from '../services/wallet/transactions/model/transaction.ts';
import { DELEGATION_STATUSES } from '../services/wallet/wallets/delegation-status.ts';
import { deliveries } from '../services/webhook/deliveries/model/delivery.ts';
import { endpoints } from '../services/webhook/endpoints/model/endpoint.ts';
import { contractList } from '../shared/contract/index.ts';
import { chainWork, UNDECIDED } from '../shared/lib/chain/chain-work.ts';

/**
 * Compares the schemas with the tables of the state machines: columns, constraints and partial
 * indexes.
 */

const root = path.resolve(import.meta.dirname, '..');
const schemas = new Map(
  contractList
    .filter(({ name }) => name !== 'gateway')
    .map(({ name }) => [
      name as string,
      readFileSync(path.join(root, 'services', name, 'schema.sql'), 'utf8'),
    ]),
);

/**
 * A column that contains a state, with the states in the predicates of partial indexes, and those
 * in which another column is set that other indexes depend on.
 */
type Column = {
  states: readonly string[];
  indexes?: Readonly<Record<string, readonly string[]>>;
  set?: Readonly<Record<string, readonly string[]>>;
};

const COLUMNS: Readonly<Record<string, Column>> = {
  'settlement.settlements.status': {
    states: statuses.states,
    // A payment that is pending may be issued without a change of the column.
    set: { expires_from: ['pending', ...statuses.from('elapse')] },
  },
  'settlement.settlements.chain_status': {
    states: chainStatuses.states,
    // An authorization has no transaction that could be under way.
    set: { under_way_since: chainStatuses.open.filter((state) => state !== 'none') },
  },
  'chain-submitter.intents.status': {
    states: intents.states,
    indexes: {
      intents_open: intents.open,
      intents_failed_by_quote: ['failed'],
      intents_unsent: ['failed'],
      intents_incoming_failed: ['failed'],
      intents_incoming_by_source: intents.states.filter((state) => state !== 'failed'),
      intents_incoming_by_vendor: intents.states.filter((state) => state !== 'failed'),
    },
  },
  'chain-submitter.transactions.status': {
    states: transactions.states,
    indexes: { transactions_one_live: ['live'], transactions_one_creation: ['live'] },
  },
  'chain-submitter.preparations.status': {
    states: preparations.states,
    indexes: {
      preparations_one_open: preparations.from('replace'),
      preparations_creating: preparations.from('submit'),
      preparations_open: preparations.from('submit'),
    },
  },
  'funding.deposits.status': { states: deposits.states },
  'funding.withdrawals.status': {
    states: withdrawals.states,
    indexes: { withdrawals_open: withdrawals.open },
  },
  'funding.refunds.status': {
    states: refunds.states,
    indexes: { refunds_open: refunds.open, refunds_to_release: RESERVES_NOTHING },
  },
  'funding.dev_funds.status': { states: chainWork.states, indexes: { dev_funds_due: UNDECIDED } },
  'wallet.preparations.status': { states: chainWork.states },
  'wallet.wallets.token_account_status': {
    states: chainWork.states,
    indexes: { wallets_token_account_due: UNDECIDED },
  },
  // Derived at each observation, so it has no transitions.
  'wallet.snapshots.delegation_status': { states: DELEGATION_STATUSES },
  'wallet.transactions.status': {
    states: projected.states,
  },
  'webhook.deliveries.status': {
    states: deliveries.states,
    indexes: { deliveries_due: deliveries.from('deliver') },
  },
  // An enabled endpoint has no reason.
  'webhook.endpoints.disabled_reason': { states: endpoints.states.filter((state) => state !== 'on') },
  'identity.services.status': {
    states: services.states,
    indexes: {
      services_to_end: services.from('end'),
      services_to_prove: services.states.filter((state) => state !== 'closed'),
    },
  },
};

const sorted = (names: Iterable<string>) => [...names].sort();
const quoted = (list: string) => [...list.matchAll(/'([a-z_]+)'::text/g)].map(([, name]) => name!);

/** The definition and the indexes by name of each table of a schema. */
const tablesOf = (schema: string) =>
  [...schema.matchAll(/^create table (\w+) \((.*?)^\);\n((?:CREATE [^\n]*\n)*)/gms)].map(
    ([, table, definition, indexes]) => ({
      table: table!,
      definition: definition!,
      indexes: new Map(
        [...indexes!.matchAll(/^CREATE (?:UNIQUE )?INDEX (\w+) (.*);$/gm)].map(([, name, text]) => [
          name!,
          text!,
        ]),
      ),
    }),
  );
const tables = [...schemas].flatMap(([service, schema]) =>
  tablesOf(schema).map((table) => ({ ...table, name: `${service}.${table.table}` })),
);

/** The states that a condition on a column names, one list for each occurrence. */
const conditions = (text: string, column: string, states: readonly string[]): string[][] =>
  [
    ...text.matchAll(
      new RegExp(`(?<![a-z_])${column} (=|<>) (?:'([a-z_]+)'|(?:ANY|ALL) \\(ARRAY\\[(.*?)\\])`, 'g'),
    ),
  ].map(([, operator, single, list]) => {
    const named = single === undefined ? quoted(list!) : [single];
    return operator === '=' ? named : states.filter((state) => !named.includes(state));
  });

test('the list contains every column that holds a state', () => {
  const constrained = tables.flatMap(({ name, definition }) =>
    [...definition.matchAll(/CHECK \((status|\w+_status|\w+_reason) = ANY \(ARRAY/g)].map(
      ([, column]) => `${name}.${column}`,
    ),
  );
  expect(sorted(new Set(constrained))).toEqual(sorted(Object.keys(COLUMNS)));
});

test.each(Object.entries(COLUMNS))('%s: its check lists the states of the table', (key, { states }) => {
  const [service, name, column] = key.split('.') as [string, string, string];
  const { definition, indexes } = tables.find((table) => table.name === `${service}.${name}`)!;
  const checked = new RegExp(`CHECK \\(${column} = ANY \\(ARRAY\\[(.*?)\\]`).exec(definition)![1]!;
  expect(sorted(quoted(checked))).toEqual(sorted(states));
  const first = new RegExp(`^  ${column} text default '(\\w+)'`, 'm').exec(definition)?.[1];
  expect([undefined, states[0]]).toContain(first);
  // A constraint on an unknown state would hold for every row, or for none.
  for (const named of conditions(definition + [...indexes.values()].join('\n'), column, states))
    expect(states).toEqual(expect.arrayContaining(named));
});

test.each(Object.entries(COLUMNS))(
  '%s: its partial indexes contain the states that statements use',
  (key, column) => {
    const [service, name, columnName] = key.split('.') as [string, string, string];
    const { indexes } = tables.find((table) => table.name === `${service}.${name}`)!;
    const partial = [...indexes].flatMap(([index, text]) =>
      conditions(/ WHERE (.*)$/.exec(text)?.[1] ?? '', columnName, column.states).map(
        (states) => [index, sorted(states)] as const,
      ),
    );
    const expected = Object.entries(column.indexes ?? {}).map(([index, states]) => [index, sorted(states)]);
    expect(Object.fromEntries(partial)).toEqual(Object.fromEntries(expected));
  },
);

test.each(Object.entries(COLUMNS))(
  '%s: the columns that its partial indexes depend on are set in these states',
  (key, column) => {
    const [service, name, columnName] = key.split('.') as [string, string, string];
    const { definition, indexes } = tables.find((table) => table.name === `${service}.${name}`)!;
    const isIndexed = (other: string) =>
      [...indexes.values()].some((text) => text.endsWith(` WHERE (${other} IS NOT NULL)`));
    const states = [...definition.matchAll(/ CHECK \(\((\w+) IS NOT NULL\) = (.*)$/gm)]
      .filter(([, other]) => isIndexed(other!))
      .flatMap(([, other, text]) =>
        conditions(text!, columnName, column.states).map((named) => [other, sorted(named)] as const),
      );
    const expected = Object.entries(column.set ?? {}).map(([other, named]) => [other, sorted(named)]);
    expect(Object.fromEntries(states)).toEqual(Object.fromEntries(expected));
  },
);

test('a quote stores the state of its settlement by its position, from 1', () => {
  expect(sorted(STORED_STATES)).toEqual(sorted(quoteSettlements.states));
  expect(schemas.get('quote')).toContain(
    `CHECK (settlement_state >= 1 AND settlement_state <= ${STORED_STATES.length})`,
  );
});
