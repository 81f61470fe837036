import { chainSubmitter } from '../../shared/contract/chain-submitter.ts';
import { wallet } from '../../shared/contract/wallet.ts';
import type { Command } from './command.ts';
import { tableText } from './table.ts';

export const authorityCommands: readonly Command[] = [
  {
    name: 'authorities',
    args: '',
    summary: 'Lists delegate authorities with the number of wallets that pay through each',
    details: 'An authority without active wallets can be retired, because no owner has to approve again.',
    show: async (operator) => {
      const [{ authorities }, counted] = await Promise.all([
        operator.call(chainSubmitter, 'getSigning', {}),
        operator.call(wallet, 'countAuthorities', {}),
      ]);
      const addresses = new Set(
        [...authorities, ...counted.map((one) => ({ address: one.authority }))].map((one) => one.address),
      );
      const json = [...addresses].map((address) => ({
        number: authorities.find((one) => one.address === address)?.number ?? null,
        address,
        wallets: counted.find((one) => one.authority === address)?.wallets ?? 0,
        active: counted.find((one) => one.authority === address)?.active ?? 0,
      }));
      const rows = json.map(({ number, address, wallets, active }, at) => [
        number === null ? 'retired' : `${number}${at === 0 ? ' (new approvals)' : ''}`,
        address,
        String(wallets),
        String(active),
      ]);
      return { json, text: tableText([['authority', 'address', 'wallets', 'approved'], ...rows]) };
    },
  },
];
