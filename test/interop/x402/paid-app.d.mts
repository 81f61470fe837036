import type { Express } from 'express';

/** `path`: a name in brackets is any segment. `price`: like `$0.05`. */
export declare function paidApp(settings: {
  facilitatorUrl: string;
  network: string;
  payTo: string;
  path: string;
  price: string;
}): Express;
