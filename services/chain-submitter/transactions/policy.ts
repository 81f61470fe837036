import { PROGRAMS } from '../chain/addresses.ts';
import { type Network, platformAddresses } from '../chain/model/network.ts';
import { isUserSigned, type Order } from '../intents/model/order.ts';
import { type KnownInstruction, readInstruction } from './decode.ts';
import { USDC_DECIMALS } from './instructions/shared.ts';
import { decodeMessage, type PlainMessage } from './message.ts';

/**
 * What may be signed. It is decided on the decoded bytes, after the building and independently of it (rule 7): a
 * mistake there, or a changed library, ends here and not on the chain.
 */
export class PolicyError extends Error {
  override name = 'PolicyError';
}

const require = (met: boolean, what: string): void => {
  if (!met) throw new PolicyError(what);
};

type Of<N extends KnownInstruction['name']> = Extract<KnownInstruction, { name: N }>;

const take = <N extends KnownInstruction['name']>(rest: KnownInstruction[], name: N): Of<N> => {
  const next = rest.shift();
  if (next?.name !== name) throw new PolicyError(`expected ${name}, found ${next?.name ?? 'nothing'}`);
  return next as Of<N>;
};

const checkCreation = (rest: KnownInstruction[], network: Network, owner: string, tokenAccount: string) => {
  if (rest[0]?.name !== 'createTokenAccount') return;
  const creation = take(rest, 'createTokenAccount');
  require(creation.payer === network.feePayer, 'the fee payer pays for token accounts');
  require(creation.owner === owner && creation.tokenAccount === tokenAccount, 'another token account');
  require(creation.mint === network.mint, 'another mint');
};

const checkTransfer = (
  rest: KnownInstruction[],
  mint: string,
  expected: {
    source: string;
    authority: string;
    destination: string;
    amountMicro: bigint;
    reference: string | null;
  },
) => {
  const transfer = take(rest, 'transferChecked');
  require(transfer.mint === mint && transfer.decimals === USDC_DECIMALS, 'another mint');
  require(transfer.source === expected.source, 'another source');
  require(transfer.destination === expected.destination, 'another destination');
  require(transfer.authority === expected.authority, 'another authority');
  require(transfer.amountMicro === expected.amountMicro, 'another amount');
  require(transfer.reference === expected.reference, 'another reference');
};

const checkBudget = (rest: KnownInstruction[], budget: Network['computeBudget']) => {
  if (budget === null) return;
  require(take(rest, 'computeUnitLimit').units === budget.units, 'another compute unit limit');
  const { microLamports } = take(rest, 'computeUnitPrice');
  require(microLamports === budget.microLamports, 'another compute unit price');
};

/** What the order says each instruction must be; whatever is left over is refused by the caller. */
const checkOrder = (rest: KnownInstruction[], order: Order, network: Network) => {
  const { mint } = network;
  switch (order.kind) {
    case 'settle': {
      const { source, authority, feeMicro, grossMicro, payoutAccount, reference } = order;
      require(network.delegateAuthorities.includes(authority), 'not a delegate authority of ours');
      require(feeMicro >= 0n && feeMicro < grossMicro, 'the fee leaves nothing');
      require(source !== payoutAccount && source !== network.feeAccount, 'a payment to oneself');
      require(payoutAccount !== network.feeAccount, 'a payout to the fee wallet');
      checkBudget(rest, network.computeBudget);
      checkCreation(rest, network, order.payout, payoutAccount);
      const from = { source, authority };
      const netMicro = grossMicro - feeMicro;
      checkTransfer(rest, mint, { ...from, destination: payoutAccount, amountMicro: netMicro, reference });
      if (feeMicro > 0n) {
        const fee = { destination: network.feeAccount, amountMicro: feeMicro, reference: null };
        checkTransfer(rest, mint, { ...from, ...fee });
      }
      return;
    }
    case 'fund': {
      checkCreation(rest, network, order.owner, order.destination);
      const minting = take(rest, 'mintTo');
      require(minting.mint === mint && minting.destination === order.destination, 'another destination');
      require(minting.authority === network.fundingAuthority, 'another authority');
      require(minting.amountMicro === order.amountMicro, 'another amount');
      require(minting.reference === order.reference, 'another reference');
      return;
    }
    case 'createTokenAccount':
      require(rest[0]?.name === 'createTokenAccount', 'expected createTokenAccount');
      checkCreation(rest, network, order.owner, order.tokenAccount);
      return;
    case 'delegation': {
      const { owner, tokenAccount, authority, allowanceMicro } = order;
      if (allowanceMicro === null) {
        const ended = take(rest, 'revoke');
        require(ended.tokenAccount === tokenAccount && ended.owner === owner, 'another token account');
        return;
      }
      require(network.delegateAuthorities.includes(authority), 'not a delegate authority of ours');
      checkCreation(rest, network, owner, tokenAccount);
      const approval = take(rest, 'approveChecked');
      require(approval.mint === mint && approval.decimals === USDC_DECIMALS, 'another mint');
      require(approval.tokenAccount === tokenAccount && approval.owner === owner, 'another token account');
      require(approval.delegate === authority, 'another delegate');
      require(approval.amountMicro === allowanceMicro, 'another amount');
      return;
    }
    case 'withdrawal':
    case 'refund': {
      const { owner, source, payee, destination, amountMicro, reference } = order;
      require(!platformAddresses(network).includes(owner), 'a transfer of the platform’s own');
      require(source !== destination, 'a transfer to oneself');
      require(!platformAddresses(network).includes(destination), 'a transfer to the platform');
      if (payee !== null) checkCreation(rest, network, payee, destination);
      checkTransfer(rest, mint, { source, authority: owner, destination, amountMicro, reference });
    }
  }
};

/** Who signs an order's transaction, the fee payer first. */
export const signersOf = (order: Order, network: Network): string[] => {
  if (order.kind === 'createTokenAccount') return [network.feePayer];
  if (order.kind === 'settle') return [network.feePayer, order.authority];
  if (isUserSigned(order)) return [network.feePayer, order.owner];
  return [network.feePayer, network.fundingAuthority ?? ''];
};

/** The fee payer may pay rent, and nothing else of any instruction is its business. */
const checkFeePayer = (message: PlainMessage, feePayer: string) => {
  for (const { program, accounts } of message.instructions) {
    const inside = accounts.filter(({ address }) => address === feePayer).length;
    const pays = program === PROGRAMS.tokenAccount && accounts[0]?.address === feePayer;
    require(inside === (pays ? 1 : 0), 'the fee payer has a part in an instruction');
  }
};

/** Only token accounts of the order, the fee payer's lamports and (for a fund) the mint may change. */
const mayChange = (order: Order, { feePayer, feeAccount, mint }: Network): string[] => {
  switch (order.kind) {
    case 'settle':
      return [feePayer, order.source, order.payoutAccount, feeAccount];
    case 'fund':
      return [feePayer, order.destination, mint];
    case 'withdrawal':
    case 'refund':
      return [feePayer, order.source, order.destination];
    case 'delegation':
    case 'createTokenAccount':
      return [feePayer, order.tokenAccount];
  }
};

/**
 * @throws PolicyError unless the bytes are exactly what the order asks for: these signers, these instructions in
 * this order, these accounts and amounts, and nothing more.
 */
export const checkPolicy = (bytes: Uint8Array, order: Order, network: Network): PlainMessage => {
  try {
    const message = decodeMessage(bytes);
    const signers = signersOf(order, network);
    require(new Set(signers).size === signers.length, 'the fee payer is never an authority');
    require(message.signers.join() === signers.join(), 'other signers');
    checkFeePayer(message, network.feePayer);
    const rest = message.instructions.map(readInstruction);
    checkOrder(rest, order, network);
    require(rest.length === 0, 'an instruction too many');
    const changing = mayChange(order, network);
    require(message.writable.every((key) => changing.includes(key)), 'another account is writable');
    return message;
  } catch (error) {
    throw error instanceof PolicyError ? error : new PolicyError((error as Error).message);
  }
};
