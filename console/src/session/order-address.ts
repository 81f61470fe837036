/** Pages of payments alone, so that a sign-in leads to no other address, whatever is stored. */
const PAGE = /^\/pay(#[A-Za-z0-9_-]+|\/(test|live)\/pl_[0-9a-z]{26})$/;

/** Whether an address is that of a page of ours that takes a payment. */
export const isOrder = (address: unknown): address is string =>
  typeof address === 'string' && PAGE.test(address);
