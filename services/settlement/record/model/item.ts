import { LINK_KEY } from '../../../../shared/contract/quote.ts';
import type { QuoteClaims } from '../../../../shared/contract/tokens.ts';

/**
 * What a payment is for, as people name it: what its quote sells, or what the client of another
 * protocol said it pays for.
 * @returns null if nothing says so
 */
export const itemOfPayment = ({
  scope,
  resource,
}: {
  scope: QuoteClaims['scope'];
  resource: string | null;
}): string | null => itemOf(scope) ?? resource;

/**
 * What a quote sells, as people name it: the title of its payment link, or the address.
 * @returns null if the scope names nothing
 */
export const itemOf = (scope: QuoteClaims['scope']): string | null => {
  const link = scope?.[LINK_KEY] as { title?: unknown } | null | undefined;
  const named = [link?.title, scope?.resource].find((text) => typeof text === 'string');
  return (named as string | undefined) ?? null;
};
