import { accountRecordsCommands } from './account-records.ts';
import { accountSearchCommands } from './account-search.ts';
import { accountsCommands } from './accounts.ts';
import { auditCommands } from './audit.ts';
import { authorityCommands } from './authorities.ts';
import { budgetsCommands } from './budgets.ts';
import { capsCommands } from './caps.ts';
import type { Command } from './command.ts';
import { costsCommands } from './costs.ts';
import { deprecatedCommands } from './deprecated.ts';
import { drainCommands } from './drain.ts';
import { lanesCommands } from './lanes.ts';
import { limitsCommands } from './limits.ts';
import { paymentCommands } from './payment.ts';
import { paymentsCommands } from './payments.ts';
import { quarantineCommands } from './quarantine.ts';
import { redispatchCommands } from './redispatch.ts';
import { requestCommands } from './requests.ts';
import { signingCommands } from './signing.ts';
import { unsignedCommands } from './unsigned.ts';
import { versionsCommands } from './versions.ts';

/** All commands, in the order of the help. A new command is a file and a line here. */
export const commands: readonly Command[] = [
  ...paymentCommands,
  ...requestCommands,
  ...accountSearchCommands,
  ...accountRecordsCommands,
  ...accountsCommands,
  ...limitsCommands,
  ...budgetsCommands,
  ...capsCommands,
  ...costsCommands,
  ...paymentsCommands,
  ...signingCommands,
  ...authorityCommands,
  ...drainCommands,
  ...lanesCommands,
  ...versionsCommands,
  ...deprecatedCommands,
  ...redispatchCommands,
  ...unsignedCommands,
  ...quarantineCommands,
  ...auditCommands,
];
