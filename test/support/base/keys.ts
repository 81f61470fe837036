/** Keys with valid checksums that no environment has. */
export const DELEGATE_KEY = 'dk_test_secretOfTheDelegate0000000000000000000000002D8PGE';
export const SERVICE_KEY = 'vendor_test_secretOfTheService00000000000000000000000000R7osx';
export const OTHER_SERVICE_KEY = 'vendor_test_secretOfAnotherService0000000000000000000004a8J4Y';
