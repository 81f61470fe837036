/** Everything that a payment changes on the home page. */
export const CHANGES = [
  ['wallets'],
  ['payments'],
  ['transactions'],
  ['spending'],
  ['declines'],
  ['sales'],
  ['refunds'],
  ['services'],
  ['delegates'],
];
