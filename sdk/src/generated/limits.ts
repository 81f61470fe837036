// Generated from shared/contract/ by `npm run generate`; do not edit.

/** The limits that an owner may give a delegate: the label in a form, and the help of an option. */
export const CAPS = {
  "per_payment": {
    "label": "For one payment",
    "option": "the most that one payment may cost"
  },
  "daily": {
    "label": "Each day (UTC)",
    "option": "the most that it may spend in a day (UTC)"
  },
  "monthly": {
    "label": "Each month (UTC)",
    "option": "the most that it may spend in a month (UTC)"
  },
  "total": {
    "label": "Ever",
    "option": "the most that it may ever spend"
  }
} as const;
export type CapName = keyof typeof CAPS;
export const CAP_NAMES = Object.keys(CAPS) as CapName[];

/** Those that payments use up, with the label of their period. */
export const COUNTED_CAPS = {
  "daily": "Today",
  "monthly": "This month",
  "total": "Ever"
} as const;
export type CountedCap = keyof typeof COUNTED_CAPS;
export const COUNTED_NAMES = Object.keys(COUNTED_CAPS) as CountedCap[];

/** The reasons of declines in a few words. */
export const DECLINE_BADGES: Readonly<Record<string, string>> = {
  "per_payment": "above the limit of one payment",
  "daily": "daily limit used up",
  "monthly": "monthly limit used up",
  "total": "total limit used up",
  "account_per_payment": "above what a sign-in may pay at once",
  "account_daily": "above what sign-ins may pay in a day",
  "balance": "balance too small",
  "allowance": "allowance too small",
  "service_not_allowed": "service not allowed",
  "delegate_paused": "delegate paused"
};
