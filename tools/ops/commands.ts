import { accountCommands } from './account.ts';
import { auditCommands } from './audit.ts';
import { authorityCommands } from './authorities.ts';
import { budgetsCommands } from './budgets.ts';
import { capsCommands } from './caps.ts';
import type { Command } from './command.ts';
import { drainCommands } from './drain.ts';
import { intakeCommands } from './intake.ts';
import { limitsCommands } from './limits.ts';
import { quarantineCommands } from './quarantine.ts';
import { redriveCommands } from './redrive.ts';
import { signingCommands } from './signing.ts';

/** All commands, in the order of the help. A further task is a file like these and its line here. */
export const commands: readonly Command[] = [
  ...accountCommands,
  ...limitsCommands,
  ...budgetsCommands,
  ...capsCommands,
  ...intakeCommands,
  ...signingCommands,
  ...authorityCommands,
  ...drainCommands,
  ...redriveCommands,
  ...quarantineCommands,
  ...auditCommands,
];
