/** In the order of the default ports of `npm start`, 3000 and up. */
export const serviceNames = [
  'gateway',
  'quote',
  'settlement',
  'wallet',
  'funding',
  'identity',
  'chain-submitter',
] as const;

export type ServiceName = (typeof serviceNames)[number];
