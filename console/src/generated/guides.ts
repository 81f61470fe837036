// Written by `npm run generate` out of shared/contract/guides.ts; do not edit.
export const GUIDES = [
  {
    "name": "concepts",
    "title": "How it works"
  },
  {
    "name": "quickstart-vendor",
    "title": "Sell an API"
  },
  {
    "name": "any-api",
    "title": "Charge for any API"
  },
  {
    "name": "quickstart-buyer",
    "title": "Pay for an API"
  },
  {
    "name": "quickstart-agent",
    "title": "Give an agent a budget"
  },
  {
    "name": "test-environment",
    "title": "Test"
  },
  {
    "name": "troubleshooting",
    "title": "Troubleshooting"
  },
  {
    "name": "faq",
    "title": "Questions"
  },
  {
    "name": "pricing",
    "title": "Choose a price"
  },
  {
    "name": "metered",
    "title": "Be paid for what was used"
  },
  {
    "name": "llm-by-tokens",
    "title": "LLM by tokens"
  },
  {
    "name": "checkout",
    "title": "Sell to people"
  },
  {
    "name": "payment-links",
    "title": "Payment links"
  },
  {
    "name": "python",
    "title": "Python"
  },
  {
    "name": "proxies-and-browsers",
    "title": "Proxies and browsers"
  },
  {
    "name": "refunds",
    "title": "Refunds"
  },
  {
    "name": "books",
    "title": "Books"
  },
  {
    "name": "authentication",
    "title": "Authentication"
  },
  {
    "name": "idempotency",
    "title": "Idempotency"
  },
  {
    "name": "errors",
    "title": "Handle errors"
  },
  {
    "name": "crash-recovery",
    "title": "Crashes"
  },
  {
    "name": "webhooks",
    "title": "Webhooks"
  },
  {
    "name": "events",
    "title": "Events"
  },
  {
    "name": "receipts",
    "title": "Receipts"
  },
  {
    "name": "limits",
    "title": "Limits and fees"
  },
  {
    "name": "going-live",
    "title": "Go live"
  },
  {
    "name": "security",
    "title": "Security for adopters"
  },
  {
    "name": "close-account",
    "title": "Close an account"
  },
  {
    "name": "versioning",
    "title": "Versions"
  },
  {
    "name": "changelog",
    "title": "Changelog"
  },
  {
    "name": "agents",
    "title": "Agents"
  },
  {
    "name": "sdk",
    "title": "TypeScript SDK"
  },
  {
    "name": "cli",
    "title": "Command line"
  },
  {
    "name": "mcp",
    "title": "MCP server"
  },
  {
    "name": "gate",
    "title": "Gate"
  },
  {
    "name": "x402",
    "title": "x402"
  },
  {
    "name": "comparison",
    "title": "Comparison"
  },
  {
    "name": "glossary",
    "title": "Glossary"
  },
  {
    "name": "self-hosting",
    "title": "Self-hosting"
  },
  {
    "name": "deployment",
    "title": "Compose"
  },
  {
    "name": "kubernetes",
    "title": "Kubernetes"
  },
  {
    "name": "operations",
    "title": "Operations"
  },
  {
    "name": "runbook",
    "title": "Runbook"
  },
  {
    "name": "economics",
    "title": "Economics"
  },
  {
    "name": "threat-model",
    "title": "Threat model"
  }
] as const;
