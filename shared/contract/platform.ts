/**
 * The platform as a vendor: accounts pay their accrued fees to its service, by our quote and settle
 * (docs/adr/0043). Neither exists in identity, so nobody can sign in to it or have its key.
 */
export const PLATFORM_ACCOUNT_ID = 'acct_00000000000000000000000000';
export const PLATFORM_SERVICE_ID = '00000000-0000-0000-0000-000000000000';
