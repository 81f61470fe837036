/** Workers of the console. The page's policy allows only script URLs that pass here. */

/**
 * Returns the address unchanged if it is a script of the build.
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
 * Starts a worker by the address that the build gives it: `import address from
 * '../wallet/wallet-worker.ts?worker&url'`.
 * @throws TypeError if it is not a script of the build
 */
export const startWorker = (address: string): Worker =>
  new Worker(policy.createScriptURL(address), { type: 'module' });
