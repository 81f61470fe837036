type Sold = {
  scope: Readonly<Record<string, unknown>> | null;
  /** Of a payment of another protocol: what the client said it pays for. */
  resource?: string | undefined;
};

/** What is sold: the title of a payment link, or the address. Null: nothing says so. */
export const itemOf = ({ scope, resource }: Sold): string | null => {
  const link = scope?.payment_link as { title?: unknown } | null | undefined;
  const named = [link?.title, scope?.resource, resource].find((text) => typeof text === 'string');
  return (named as string | undefined) ?? null;
};
