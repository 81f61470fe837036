/** The shorter side of the largest phone, in CSS pixels. That of a tablet is longer. */
const LARGEST_PHONE = 600;

/**
 * Whether the page is shown on a phone: touched, with a small screen, however it is held. A phone
 * cannot scan its own screen, and has the wallet app itself.
 */
export const isPhone = (): boolean =>
  matchMedia('(pointer: coarse)').matches && Math.min(screen.width, screen.height) < LARGEST_PHONE;
