// Generated from shared/contract/ by `npm run generate`; do not edit.

/** The limits that an owner may give a delegate: the label in a form, and the help of an option. */
export const CAPS = {
  "per_payment": {
    "label": "Per payment",
    "option": "the most that one payment may cost"
  },
  "daily": {
    "label": "Per day (UTC)",
    "option": "the most that it may spend in a day (UTC)"
  },
  "monthly": {
    "label": "Per month (UTC)",
    "option": "the most that it may spend in a month (UTC)"
  },
  "total": {
    "label": "In total",
    "option": "the most that it may spend in total"
  }
} as const;
export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as CapName[];

/** Those that payments use up, with the label of their period. */
export const COUNTED_CAPS = {
  "daily": "Today",
  "monthly": "This month",
  "total": "In total"
} as const;
export type CountedCap = keyof typeof COUNTED_CAPS;
export const COUNTED_NAMES = Object.keys(COUNTED_CAPS) as CountedCap[];

/** The reasons of declines in a few words. */
export const DECLINE_BADGES: Readonly<Record<string, string>> = {
  "per_payment": "over the limit per payment",
  "daily": "over the daily limit",
  "monthly": "over the monthly limit",
  "total": "over the total limit",
  "account_per_payment": "over the account’s limit per payment",
  "account_daily": "over the account’s daily limit",
  "balance": "balance too low",
  "allowance": "spending limit too low",
  "service_not_allowed": "service not allowed",
  "delegate_paused": "agent paused",
  "authorization_closed": "tab closed",
  "tab_amount": "ceiling too high",
  "tab_new_payer": "too much authorized by a new payer",
  "tab_share": "too much authorized by one payer",
  "tab_vendor": "too much authorized for this vendor"
};

/** How often the ceiling of an authorization can be extended. */
export const MAX_EXTENSIONS = 20;
