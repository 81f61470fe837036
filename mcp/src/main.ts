export { type PaidTool, type PaidToolOptions, type PaidToolPaywall, paidTool } from './paid-tool.ts';
