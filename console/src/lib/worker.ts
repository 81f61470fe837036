/** Workers of the console. The page's policy lets no text become a script but what passes here. */

/**
 * The address as it is, when the build wrote a script there.
 * @throws TypeError for any other
 */
export const scriptOfOurs = (address: string): string => {
  if (!/^\/console\/assets\/[\w.-]+\.js$/.test(address)) throw new TypeError('not a script of ours');
  return address;
};

type Rules = { createScriptURL: (address: string) => string };
type Policies = { createPolicy: (name: string, rules: Rules) => Rules };
const policies = (globalThis as { trustedTypes?: Policies }).trustedTypes;
const rules: Rules = { createScriptURL: scriptOfOurs };
const policy = policies?.createPolicy('quittance-worker', rules) ?? rules;

/**
 * Starts a worker by the address that the build gives it: `import address from './wallet-worker.ts?worker&url'`.
 * @throws TypeError when it is no script of ours
 */
export const startWorker = (address: string): Worker =>
  new Worker(policy.createScriptURL(address), { type: 'module' });
