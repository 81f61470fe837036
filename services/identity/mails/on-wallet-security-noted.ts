/** wallet notes security events as settlement does. */
export { securityNoted as walletNoted } from './on-settlement-security-noted.ts';
