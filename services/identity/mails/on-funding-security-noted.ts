/** funding notes security events as settlement does. */
export { securityNoted as fundingNoted } from './on-settlement-security-noted.ts';
