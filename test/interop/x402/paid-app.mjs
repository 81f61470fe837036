import { paymentMiddleware, x402ResourceServer } from '@x402/express';
import express from 'express';
import { resourceOf } from './vendor.mjs';

/**
 * An application with one paid route, as in the documentation of @x402/express.
 * @param settings those of `resourceOf`
 */
export const paidApp = (settings) => {
  const { routes, server } = resourceOf(settings, x402ResourceServer);
  const app = express();
  app.use(paymentMiddleware(routes, server));
  return app;
};
