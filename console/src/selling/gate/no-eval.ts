import { config } from 'zod';

/** The page's policy refuses `new Function`, which zod would try for its parsers. */
config({ jitless: true });
