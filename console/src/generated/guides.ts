// Written by `npm run generate` out of shared/contract/guides.ts; do not edit.
export const GUIDES = [
  {
    "name": "quickstart-vendor",
    "title": "Sell an API"
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
    "name": "webhooks",
    "title": "Webhooks"
  },
  {
    "name": "events",
    "title": "Events"
  },
  {
    "name": "limits",
    "title": "Limits and fees"
  },
  {
    "name": "receipts",
    "title": "Receipts"
  },
  {
    "name": "going-live",
    "title": "Go live"
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
    "name": "x402",
    "title": "x402"
  }
] as const;
