import { type Consumer, createDelegate } from '../../../deploy/local/seed/actors.ts';
import type { Api } from '../../../deploy/local/seed/api.ts';
import {
  type Approval,
  approveWith,
  type OwnersPasskey,
  registerPasskey,
} from '../../support/actors/owner.ts';
import { atOnce } from '../../support/servers/stack.ts';
import type { Access } from '../access.ts';
import { type Asked, type Attempt, bodyOf, type ClientLog, type Decision } from './client-log.ts';

/** Payments of an owner's agents above this amount need its approval. */
export const APPROVAL_ABOVE = 100_000n;
/** At most ten payments of a delegate may wait for its owner. */
const AGENTS = 3;

/** An owner that decides about the payments of its agents, with a passkey. */
export type Owner = OwnersPasskey & { payer: Consumer; keys: string[] };

/** Adds a passkey and delegates that need approvals to a payer. */
export const createOwner = async (api: Api, stack: Access['stack'], payer: Consumer): Promise<Owner> => {
  const approval_above = APPROVAL_ABOVE.toString();
  const [passkey, delegates] = await Promise.all([
    registerPasskey(api, stack, payer.token),
    atOnce(AGENTS, () => createDelegate(api, payer, {}, { approval_above })),
  ]);
  return { payer, keys: delegates.map(({ api_key }) => api_key), ...passkey };
};

/** The approval that the last refusal of an attempt named; null: none. */
const approvalOf = ({ answers }: Attempt): string | null =>
  answers.flatMap((answer) => bodyOf(answer).error?.approval_id ?? []).at(-1) ?? null;

/** The calls of owners, which their log records. */
export const createOwnerCalls = (
  { decisions }: Pick<ClientLog, 'decisions'>,
  calls: {
    api: Api;
    asked: (what: string, ask: () => Promise<{ status: number; body: unknown }>) => Promise<Asked>;
    tokenOf: (payer: Consumer) => Promise<string>;
  },
) => {
  const { api, asked, tokenOf } = calls;
  const turns = new Map<Owner, Promise<unknown>>();

  /** A session has one open challenge, so an owner signs one approval after the other. */
  const inTurn = <T>(owner: Owner, work: () => Promise<T>): Promise<T> => {
    const next = (turns.get(owner) ?? Promise.resolve()).then(work, work);
    turns.set(owner, next);
    return next;
  };

  return {
    /**
     * The owner reads the payment that waits and decides about it once. True when there is nothing
     * to repeat: the answer is final, or no approval was asked for.
     */
    decide: async (owner: Owner, attempt: Attempt, wants: Decision['wants']): Promise<boolean> => {
      const approvalId = approvalOf(attempt);
      if (approvalId === null) return true;
      const token = await tokenOf(owner.payer);
      const read = await asked('approval', () => api(`GET /v1/approvals/${approvalId}`, { token }));
      if (read.status !== 200) return false;
      const answer = await (wants === 'deny'
        ? asked('deny', () => api(`POST /v1/approvals/${approvalId}/deny`, { token }))
        : inTurn(owner, () => asked('approve', () => approveWith(api, { ...owner, token }, approvalId))));
      decisions.push({ wants, attempt, shown: read.body as Approval, ...answer });
      return answer.status !== null && answer.status < 500;
    },
  };
};
