export const SERVICE_NAMES = [
  'quote',
  'settlement',
  'wallet',
  'funding',
  'identity',
  'chain-submitter',
  'webhook',
] as const;
/**
 * The services with a schema and handlers. The gateway is not one of them, because it has no tables
 * and no handlers.
 */
export type ServiceName = (typeof SERVICE_NAMES)[number];
/** Every process of the product. */
export type Program = ServiceName | 'gateway';
/**
 * Every kind of NATS user. An `operator` is a person who runs `npm run ops`, and has a user with
 * the person's name. It serves no operation.
 */
export type BusUser = Program | 'operator';
