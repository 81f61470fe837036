import { accountRecordsCommands } from './account-records.ts';
import { accountSearchCommands } from './account-search.ts';
import { accountsCommands } from './accounts.ts';
import { auditCommands } from './audit.ts';
import { authorityCommands } from './authorities.ts';
import { backupsCommands } from './backups.ts';
import { budgetsCommands } from './budgets.ts';
import { capsCommands } from './caps.ts';
import type { Command } from './command.ts';
import { costsCommands } from './costs.ts';
import { deprecatedCommands } from './deprecated.ts';
import { drainCommands } from './drain.ts';
import { failuresCommands } from './failures.ts';
import { lanesCommands } from './lanes.ts';
import { limitsCommands } from './limits.ts';
import { paymentCommands } from './payment.ts';
import { paymentsCommands } from './payments.ts';
import { providersCommands } from './providers.ts';
import { quarantineCommands } from './quarantine.ts';
import { redispatchCommands } from './redispatch.ts';
import { requestCommands } from './requests.ts';
import { signingCommands } from './signing.ts';
import { statusCommands } from './status.ts';
import { stuckCommands } from './stuck.ts';
import { undeliveredCommands } from './undelivered.ts';
import { unsignedCommands } from './unsigned.ts';
import { versionsCommands } from './versions.ts';
import { webhooksCommands } from './webhooks.ts';

/** All commands, in the order of the help. A new command is a file and a line here. */
export const commands: readonly Command[] = [
  ...statusCommands,
  ...stuckCommands,
  ...undeliveredCommands,
  ...providersCommands,
  ...webhooksCommands,
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
  ...backupsCommands,
  ...deprecatedCommands,
  ...redispatchCommands,
  ...failuresCommands,
  ...unsignedCommands,
  ...quarantineCommands,
  ...auditCommands,
];
