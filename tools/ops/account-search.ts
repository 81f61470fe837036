import { identity } from '../../shared/contract/identity.ts';
import type { Inspection } from '../../shared/contract/operator.ts';
import { wallet } from '../../shared/contract/wallet.ts';
import { Refusal } from '../../shared/lib/refusal.ts';
import { parseKeyText } from '../../shared/lib/tokens/key-text.ts';
import { emailText } from './account-status.ts';
import { type Command, inspectionInput } from './command.ts';
import type { Operator } from './connect.ts';
import { tableText } from './table.ts';

/** The longest id or address of a wallet. */
const MAX_ADDRESS = 64;

/** What is searched for. The text of a key never leaves this machine: its hash is searched. */
const searchTextOf = (argument: string | undefined): string => {
  const key = parseKeyText(argument ?? '');
  if (key !== null) return key.hash;
  if (argument === undefined || argument === '' || argument.length > 320)
    throw new Refusal('the text must have 1 to 320 characters');
  return argument;
};

/** The owners of the wallets with this id or address. */
const findByWallet = async (operator: Operator, text: string, inspection: Inspection | null) => {
  if (text.length > MAX_ADDRESS) return [];
  const wallets = await operator.call(wallet, 'findWallets', { text, ...inspectionInput(inspection) });
  const found = await Promise.all(
    wallets.map(async ({ account_id, wallet_id, kind, owner }) => {
      const account_status = await operator.call(identity, 'getAccountStatus', {
        account_id,
        ...inspectionInput(inspection),
      });
      return account_status === null
        ? []
        : [{ account_status, matched: 'wallet' as const, id: wallet_id, state: `${kind}, address ${owner}` }];
    }),
  );
  return found.flat();
};

/** The accounts that an id, an address or a key names, with what named them. */
const search = async (operator: Operator, argument: string | undefined, inspection: Inspection | null) => {
  const text = searchTextOf(argument);
  const [accounts, byWallet] = await Promise.all([
    operator.call(identity, 'findAccounts', { text, ...inspectionInput(inspection) }),
    findByWallet(operator, text, inspection),
  ]);
  return [...accounts, ...byWallet];
};

/**
 * The one account that an id, an address or a key names. Of several with the same address it is the
 * one that is open, because a closed account keeps its address until it is erased.
 * @returns null if there is none
 * @throws Refusal if there is more than one
 */
export const accountNamed = async (
  operator: Operator,
  argument: string | undefined,
  inspection: Inspection | null,
) => {
  const found = (await search(operator, argument, inspection)).map(({ account_status }) => account_status);
  const open = found.filter(({ closed_at }) => closed_at === null);
  const accounts = new Map((open.length > 0 ? open : found).map((each) => [each.account_id, each]));
  const [account, another] = [...accounts.values()];
  if (another !== undefined)
    throw new Refusal(`several accounts have it: ${[...accounts.keys()].join(', ')}; name one of them`);
  return account ?? null;
};

export const accountSearchCommands: readonly Command[] = [
  {
    name: 'accounts find',
    args: '<text>',
    summary: 'Finds an account by its id, e-mail address, wallet, service, delegate or key',
    details: [
      'The text is an id (acct_, wal_, del_, key_, a service_id), an e-mail address, the address of a wallet, or an API key.',
      'Of an API key only the hash is sent. A key that somebody has published is found in this way.',
    ].join('\n'),
    inspects: true,
    show: async (operator, [argument], { inspection }) => {
      const json = await search(operator, argument, inspection);
      if (json.length === 0)
        return { json, text: `No account in ${operator.environment} has this id, address or key.`, code: 1 };
      const rows = json.map(
        ({ account_status: { account_id, email, frozen_at, limit_factor }, ...found }) => [
          account_id,
          emailText({ email }),
          frozen_at ?? 'no',
          `×${limit_factor}`,
          found.matched,
          found.id,
          found.state,
        ],
      );
      const head = ['account', 'e-mail', 'frozen', 'limits', 'found by', 'id', 'state'];
      return { json, text: tableText([head, ...rows]) };
    },
  },
];
