import { PROGRAMS } from '../chain/addresses.ts';
import type { PlainInstruction } from './message.ts';

/**
 * An instruction, decoded from message bytes by code that the builders do not share. Anything that
 * is not exactly one of these forms does not decode.
 */
export type KnownInstruction =
  | {
      name: 'createTokenAccount';
      payer: string;
      tokenAccount: string;
      owner: string;
      mint: string;
    }
  | {
      name: 'transferChecked';
      source: string;
      mint: string;
      destination: string;
      authority: string;
      amountMicro: bigint;
      decimals: number;
      reference: string | null;
    }
  | {
      name: 'approveChecked';
      tokenAccount: string;
      mint: string;
      delegate: string;
      owner: string;
      amountMicro: bigint;
      decimals: number;
    }
  | { name: 'revoke'; tokenAccount: string; owner: string }
  | {
      name: 'mintTo';
      mint: string;
      destination: string;
      authority: string;
      amountMicro: bigint;
      reference: string | null;
    }
  | { name: 'computeUnitLimit'; units: number }
  | { name: 'computeUnitPrice'; microLamports: bigint };

const refuse = (): never => {
  throw new Error('This service does not sign instructions of this form.');
};

/** The accounts of an instruction, between `least` and `most` of them. */
const accountsOf = ({ accounts }: PlainInstruction, least: number, most = least): string[] => {
  if (accounts.length < least || accounts.length > most) refuse();
  return accounts.map(({ address }) => address);
};

const token = (instruction: PlainInstruction): KnownInstruction => {
  const data = Buffer.from(instruction.data);
  const form = `${data[0]}/${data.length}`;
  if (form === '12/10') {
    const [source, mint, destination, authority, reference = null] = accountsOf(instruction, 4, 5);
    return {
      name: 'transferChecked',
      source: source!,
      mint: mint!,
      destination: destination!,
      authority: authority!,
      amountMicro: data.readBigUInt64LE(1),
      decimals: data[9]!,
      reference,
    };
  }
  if (form === '13/10') {
    const [tokenAccount, mint, delegate, owner] = accountsOf(instruction, 4);
    return {
      name: 'approveChecked',
      tokenAccount: tokenAccount!,
      mint: mint!,
      delegate: delegate!,
      owner: owner!,
      amountMicro: data.readBigUInt64LE(1),
      decimals: data[9]!,
    };
  }
  if (form === '5/1') {
    const [tokenAccount, owner] = accountsOf(instruction, 2);
    return { name: 'revoke', tokenAccount: tokenAccount!, owner: owner! };
  }
  if (form !== '7/9') return refuse();
  const [mint, destination, authority, reference = null] = accountsOf(instruction, 3, 4);
  return {
    name: 'mintTo',
    mint: mint!,
    destination: destination!,
    authority: authority!,
    amountMicro: data.readBigUInt64LE(1),
    reference,
  };
};

const tokenAccount = (instruction: PlainInstruction): KnownInstruction => {
  const [payer, address, owner, mint, system, program] = accountsOf(instruction, 6);
  // 1 is the idempotent form. The other form would fail the second of two concurrent first
  // payments.
  if (instruction.data.length !== 1 || instruction.data[0] !== 1) refuse();
  if (system !== PROGRAMS.system || program !== PROGRAMS.token) refuse();
  return { name: 'createTokenAccount', payer: payer!, tokenAccount: address!, owner: owner!, mint: mint! };
};

const budget = (instruction: PlainInstruction): KnownInstruction => {
  accountsOf(instruction, 0);
  const data = Buffer.from(instruction.data);
  if (data[0] === 2 && data.length === 5) return { name: 'computeUnitLimit', units: data.readUInt32LE(1) };
  if (data[0] !== 3 || data.length !== 9) return refuse();
  return { name: 'computeUnitPrice', microLamports: data.readBigUInt64LE(1) };
};

/** @throws Error for anything but the exact forms above. */
export const readInstruction = (instruction: PlainInstruction): KnownInstruction => {
  if (instruction.program === PROGRAMS.token) return token(instruction);
  if (instruction.program === PROGRAMS.tokenAccount) return tokenAccount(instruction);
  if (instruction.program === PROGRAMS.computeBudget) return budget(instruction);
  return refuse();
};
