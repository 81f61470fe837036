import { gateMutations } from '../gate/mutations.ts';
import { clientMutations } from '../own/mutations.ts';
import { tabMutations } from '../tabs/mutations.ts';
import { incomingMutations } from './incoming-mutations.ts';
import type { Mutation } from './mutation.ts';

const noSearchForReference = {
  file: 'services/chain-submitter/execution/adoption.ts',
  from: "if (!('reference' in order)) return null;",
  to: 'if (order !== null) return null;',
};

const expiresByHeightAlone = {
  file: 'services/chain-submitter/broadcast/expiry-proof.ts',
  from: "if (wire.length > 0 && (await age.isValid(blockhashOf(wire)))) return 'valid';",
  to: '',
};

export const mutations: readonly Mutation[] = [
  {
    name: 'one-settlement-per-quote',
    rule: '2',
    sql: 'alter table settlement.settlement_keys drop constraint settlement_keys_pkey',
    faults: ['redis-kill'],
  },
  {
    name: 'conditional-holds',
    rule: '4, 5',
    patches: [
      {
        file: 'services/settlement/payers/store.ts',
        from: 'p.balance - p.held as balance_left',
        to: 'p.balance as balance_left',
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'holds-are-released',
    rule: '5',
    patches: [
      {
        file: 'services/settlement/payers/store.ts',
        from: 'max(locked.held) - sum(changed.quote_amount)::bigint as held',
        to: 'max(locked.held) as held',
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'inbox',
    rule: '6 (and the search of 12, which finds what it lost)',
    patches: [
      noSearchForReference,
      {
        file: 'services/chain-submitter/ledger/intent-id.ts',
        from: '$' + '{payment_attempt_id}`',
        to: '$' + '{payment_attempt_id}:$' + '{Math.random()}`',
      },
    ],
    faults: ['crash-before-submitter.afterCommit', 'redis-kill'],
  },
  {
    name: 'commit-before-send',
    rule: '8 (and the search of 12, which finds what it lost)',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/broadcast.ts',
        from: '  try {\n    const isAlone',
        to: "  await deps.rpc.broadcast(signed.wire);\n  await failpoint('submitter.afterSend');\n  try {\n    const isAlone",
      },
      noSearchForReference,
    ],
    faults: ['crash-before-submitter.afterSend'],
  },
  {
    name: 'expiry-proof',
    rule: '11 (and the search of 12, which finds what it lost)',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/expiry.ts',
        from: 'sent.filter(({ lastValidBlockHeight }) => lastValidBlockHeight < age.height)',
        to: 'sent.filter(() => age.height > 0)',
      },
      {
        file: 'services/chain-submitter/broadcast/expiry.ts',
        from: '!(await isExpired(deps, transaction, age))',
        to: 'isExpired.length === 0',
      },
      noSearchForReference,
    ],
    faults: ['chain-stands-still', 'rpc-null-status'],
  },
  {
    name: 'expiry-rests-on-no-number',
    rule: '11: the blockhash is invalid everywhere, and the last block is the highest of all that are named',
    patches: [
      expiresByHeightAlone,
      {
        file: 'services/chain-submitter/chain/rpc-pool.ts',
        from: 'lastValidBlockHeight: Math.max(...named)',
        to: 'lastValidBlockHeight: Math.min(...named)',
      },
    ],
    faults: ['rpc-lies-blockhash'],
  },
  {
    name: 'another-provider-confirms',
    rule: '14',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/agreement.ts',
        from: 'if (deps.rpc.providers.length === 1) return true;',
        to: 'if (deps.rpc.providers.length > 0) return true;',
      },
    ],
    faults: ['rpc-lies-confirmation'],
  },
  {
    name: 'every-provider-says-failed',
    rule: '14',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/poller.ts',
        from: 'deps.rpc.providers.length === 1 ? Promise.resolve([...views]) : readEveryView(deps, transaction)',
        to: 'Promise.resolve(views.filter(({ status }) => status?.err))',
      },
    ],
    faults: ['rpc-lies-error'],
  },
  {
    name: 'reference',
    rule: '12',
    patches: [
      {
        file: 'services/chain-submitter/ledger/reference.ts',
        from: '.update(`$' + '{environment}/$' + '{id}`)',
        to: ".update(id.startsWith('fund/') ? id : environment)",
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'forks-are-driven-again',
    rule: '14',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/poller.ts',
        from: 'if (transaction.missedPolls < MISSES_BEFORE_FORK) continue;',
        to: 'if (transaction.missedPolls >= 0) continue;',
      },
    ],
    faults: ['fork-original-never-lands'],
  },
  {
    name: 'lost-submission-is-no-failure',
    rule: 'docs/adr/0043, a tombstone instead of a deadline',
    traffic: 'x402',
    patches: [
      {
        file: 'services/settlement/incoming/pay.ts',
        from: '      account_id: row.vendor_account_id!,\n    }),',
        to: "      account_id: row.vendor_account_id!,\n    }).catch(() => ({ outcome: 'refused', reason: 'closed', message: '' })),",
      },
    ],
    faults: ['crash-before-submitter.afterCommit'],
  },
  {
    name: 'outgoing-expiry-proof',
    rule: 'docs/design/interop.md, 6: the hold ends when the payment is seen, or with the proof',
    traffic: 'outgoing',
    patches: [
      {
        file: 'services/chain-submitter/broadcast/expiry-proof.ts',
        from: 'age.height <= lastValidBlockHeight + indexBlocks',
        to: 'age.height <= 0',
      },
      expiresByHeightAlone,
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'outgoing-message-decides',
    rule: 'docs/design/interop.md, 6: a reported transaction is a hint, its message hash decides',
    traffic: 'outgoing',
    patches: [
      {
        file: 'services/chain-submitter/execution/watch.ts',
        from: 'hint !== undefined && (await isTransactionOf(deps, hint, wanted))',
        to: 'hint !== undefined',
      },
    ],
    faults: ['kill-identity'],
  },
  {
    name: 'refused-attempt-is-looked-up',
    rule: '3',
    patches: [
      {
        file: 'services/settlement/settling/settle.ts',
        from: 'const records = await getRecords(context, call, claims);',
        to: 'const records = { attempt: null, paying: null, mayBeLost: false, payers: [] };',
      },
    ],
    faults: ['commits-wait'],
  },
  {
    name: 'paid-quote-is-named',
    rule: '3',
    patches: [
      {
        file: 'services/settlement/core/attempt-records.ts',
        from: 'claims === null ? null : findPayingSettlement(pool, account_id, claims.quote_id)',
        to: 'null',
      },
    ],
    faults: ['redis-kill'],
  },
  {
    name: 'lost-events-are-read-again',
    rule: 'docs/adr/0084: the stream is only what wakes a subscriber',
    patches: [
      {
        file: 'shared/events/catch-up.ts',
        from: 'if (missed_since === null) return false;',
        to: "if (missed_since !== '') return false;",
      },
    ],
    faults: ['events-dropped'],
    breaks: 'accounts-got-every-event',
  },
  {
    name: 'every-event-is-addressed',
    rule: 'services/webhook/events/README.md: an event and its deliveries are one statement',
    patches: [
      {
        file: 'services/webhook/events/store.ts',
        from: 'where disabled_reason is null and',
        to: 'where disabled_reason is null and random() < 0.95 and',
      },
    ],
    faults: ['kill-webhook'],
    breaks: 'webhooks-were-sent',
  },
  ...clientMutations,
  ...incomingMutations,
  ...tabMutations,
  ...gateMutations,
];
