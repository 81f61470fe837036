/** Everything that a payment changes on the home page. */
export const CHANGES = [
  ['wallets'],
  ['payments'],
  ['transactions'],
  ['declines'],
  ['sales'],
  ['refunds'],
  ['services'],
  ['delegates'],
];
