export { natsRights, type Rights } from './topology.ts';
