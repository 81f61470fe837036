/** webhook notes security events as settlement does. */
export { securityNoted as webhookNoted } from './on-settlement-security-noted.ts';
