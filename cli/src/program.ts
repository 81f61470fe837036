import { Command } from 'commander';
import { addAccount } from './commands/account.ts';
import { addDev } from './commands/dev.ts';
import { addKeys, addRequests } from './commands/developers.ts';
import { addListen } from './commands/listen.ts';
import { addApprovals, addDeclines, addDelegates, addPayments, addServices } from './commands/lists.ts';
import { addLogin } from './commands/login.ts';
import { addPay } from './commands/pay.ts';
import { addQuoteSettleRedeem } from './commands/payment-calls.ts';
import { addReceipt } from './commands/receipt.ts';
import { addTrigger } from './commands/trigger.ts';
import { addWhoami } from './commands/whoami.ts';
import { DEFAULT_URL } from './context.ts';
import type { Io } from './io.ts';
import { EXIT_CODES } from './text/exit-codes.ts';
import { VERSION } from './text/version.ts';

/** Environment variables, with what each sets. */
export const VARIABLES: readonly (readonly [name: string, meaning: string])[] = [
  ['QUITTANCE_URL', `the address of the API (default: ${DEFAULT_URL}, the gateway of npm start)`],
  ['QUITTANCE_ENVIRONMENT', 'test or live (default: test); a key determines it'],
  ['DELEGATE_KEY', 'a delegate key (dk_…), which pays'],
  ['SERVICE_KEY', 'a service key (vendor_…), which sells'],
  ['QUITTANCE_KEY', 'a key of either kind, where the variable of its kind is not set'],
  ['QUITTANCE_WEBHOOK_SECRET', 'the secret that listen signs with (default: a new one for each run)'],
  ['HTTPS_PROXY, HTTP_PROXY', 'the proxy that calls go through; hosts of NO_PROXY are called directly'],
  ['NO_COLOR', 'no colours, if it is set'],
  ['XDG_CONFIG_HOME', 'where the folder quittance with all files of this command is (default: ~/.config)'],
];

const lines = (rows: readonly (readonly [string, string])[]): string => {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`).join('\n');
};

const AFTER_HELP = () =>
  [
    '',
    'Environment variables:',
    lines(VARIABLES),
    '',
    'Exit codes:',
    lines(Object.values(EXIT_CODES).map(([code, meaning]) => [String(code), meaning] as const)),
  ].join('\n');

/** What a bare `quittance` prints: the way to a first payment and a first event. */
export const FIRST_MINUTE = [
  'Pays for APIs and sells them, with USDC on Solana. The first minute:',
  '',
  lines([
    ['quittance login', 'sign in: a page of the console asks you for a code'],
    ['quittance pay <url> --max 0.10', 'call an address, and pay what it asks for'],
    ['quittance dev', 'sell: prepares the folder of your server, and shows its sales'],
    ['quittance listen --forward-to localhost:8080/hooks', 'get the events of your account on this machine'],
  ]),
  '',
  'An agent needs no sign-in: set DELEGATE_KEY to its key.',
  '`quittance --help` lists all commands, variables and exit codes.',
  '',
].join('\n');

/** Errors become exceptions, so that one place prints them and sets the exit code. */
const quietly = (command: Command, io: Io): void => {
  command.exitOverride().configureOutput({
    writeOut: (text) => io.out(text),
    // The help of a group without a command.
    writeErr: (text) => io.err(text),
    // The error is printed by its exception.
    outputError: () => undefined,
    getOutHelpWidth: () => 100,
    getErrHelpWidth: () => 100,
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
  for (const each of command.commands) quietly(each, io);
};

/** The command with all its subcommands. */
export const createProgram = (io: Io): Command => {
  const program = new Command('quittance')
    .description('Pays for APIs and sells them, with USDC on Solana.')
    .version(VERSION)
    .option('--url <url>', 'the address of the API (or QUITTANCE_URL)')
    .option('-e, --environment <name>', 'test or live (or QUITTANCE_ENVIRONMENT)')
    .option('--json', 'print the result as JSON')
    .configureHelp({ showGlobalOptions: false })
    .addHelpText('after', AFTER_HELP);
  addLogin(program, io);
  addWhoami(program, io);
  addPay(program, io);
  addQuoteSettleRedeem(program, io);
  addDev(program, io);
  addListen(program, io);
  addTrigger(program, io);
  addServices(program, io);
  addDelegates(program, io);
  addPayments(program, io);
  addReceipt(program, io);
  addApprovals(program, io);
  addDeclines(program, io);
  addRequests(program, io);
  addKeys(program, io);
  addAccount(program, io);
  quietly(program, io);
  return program;
};
