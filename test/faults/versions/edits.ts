/**
 * The next two versions of this tree. A campaign never compares two equal builds, whatever the last
 * change was. Each adds what releases add, by the rules of docs/adr/0093-two-versions.md: the first
 * one reads a field, and the second one writes it.
 */

/** A file that a version adds, or a text in a file that it replaces. */
export type Edit = { file: string; text: string } | { file: string; from: string; to: string };

const version = (from: string, to: string): Edit => ({
  file: 'package.json',
  from: `"version": "${from}"`,
  to: `"version": "${to}"`,
});

/** The type of webhook events that the next version adds. */
export const ADDED_EVENT_TYPE = 'settlement.later';

/**
 * A column that its statements write, a field of an event that it reads, and a type of webhook
 * events, which older processes leave out.
 */
const FIRST: readonly Edit[] = [
  version('0.1.0', '0.2.0'),
  {
    file: 'services/settlement/migrations/0099_later.sql',
    text: 'alter table settlements add column later text;\n',
  },
  {
    file: 'services/settlement/record/store/redeem.ts',
    from: 'redeem_id = input.redeem_id,',
    to: "redeem_id = input.redeem_id, later = 'redeemed',",
  },
  {
    file: 'shared/contract/settlement/events.ts',
    from: '    payees: Payees.nullable().optional(),\n  }),',
    to: "    payees: Payees.nullable().optional(),\n    later: since('0.2.0', z.enum(['once', 'twice'])).optional(),\n  }),",
  },
  {
    file: 'shared/contract/settlement/events.ts',
    from: "import { z } from 'zod';",
    to: "import { z } from 'zod';\nimport { since } from '../since.ts';",
  },
  {
    file: 'shared/contract/webhook/operations.ts',
    from: "  'settlement.redeemed',\n",
    to: `  'settlement.redeemed',\n  '${ADDED_EVENT_TYPE}',\n`,
  },
  {
    file: 'services/webhook/events/model.ts',
    from: "  'settlement.redeemed': (event) =>\n    paymentEvents('settlement.redeemed', event, {",
    to: `  'settlement.redeemed': (event) =>\n    paymentEvents('${ADDED_EVENT_TYPE}', event).concat(paymentEvents('settlement.redeemed', event, {`,
  },
  {
    file: 'services/webhook/events/model.ts',
    from: '      vendor: { redeem_id: event.redeem_id },\n    }),',
    to: '      vendor: { redeem_id: event.redeem_id },\n    })),',
  },
];

/** It writes the field. */
const SECOND: readonly Edit[] = [
  version('0.2.0', '0.3.0'),
  {
    file: 'services/settlement/record/events.ts',
    from: '        item: itemOfPayment(terms),\n',
    to: "        item: itemOfPayment(terms),\n        later: 'twice',\n",
  },
];

export const VERSIONS = ['this', 'next', 'after next'] as const;
export type Version = (typeof VERSIONS)[number];

/** What makes a version of this tree. */
export const EDITS: Readonly<Record<Version, readonly Edit[]>> = {
  this: [],
  next: FIRST,
  'after next': [...FIRST, ...SECOND],
};
