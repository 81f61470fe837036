/** `2500000` → `2.50 USDC`: at least two decimals, no rounding. */
export const inUsdc = (micro: string): string => {
  const digits = micro.padStart(7, '0');
  const decimals = digits.slice(-6).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -6)}.${decimals} USDC`;
};
